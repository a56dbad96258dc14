// Progress by server-sent events. Without scripts a page says how far its work is when it is opened again.
for (const list of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(list.dataset.events);
  source.onmessage = (event) => { list.innerHTML = event.data; };
  source.addEventListener("end", () => source.close());
}
for (const form of document.querySelectorAll("form[data-progress]")) {
  form.addEventListener("submit", () => {
    const mark = Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) => one.toString(16).padStart(2, "0")).join("");
    form.elements.mark.value = mark;
    const [bar, told] = [form.querySelector("progress"), form.querySelector("output")];
    const source = new EventSource(form.dataset.progress + mark);
    bar.hidden = false;
    source.onmessage = (event) => {
      const now = JSON.parse(event.data);
      if (!now) return;
      if (now.total) [bar.max, bar.value] = [now.total, now.done];
      told.textContent = now.total ? `${now.step} ${now.done} / ${now.total}` : now.step;
    };
    source.addEventListener("end", () => source.close());
  });
}
