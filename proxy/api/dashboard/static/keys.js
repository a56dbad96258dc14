// One-key decisions: while a card with data-keys has the focus, the keys written on its buttons press them; the arrows go
// from card to card.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const card = event.target.closest("[data-keys]");
  const next = { ArrowDown: card?.nextElementSibling, ArrowUp: card?.previousElementSibling }[event.key];
  if (next) {
    event.preventDefault();
    next.focus();
    return;
  }
  const chosen = card && [...card.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
  if (!chosen) return;
  event.preventDefault();
  if (chosen.matches("button, summary")) chosen.click();
  else chosen.focus();
});
