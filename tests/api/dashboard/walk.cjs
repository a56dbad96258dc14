// Signs in and walks every page in light and dark, narrow and wide, with axe; prints one JSON line a page.
const fs = require("node:fs");
const path = require("node:path");
const [origin, key, tools, chromiumPath, shots] = process.argv.slice(2);
const { chromium } = require(path.resolve(tools, "playwright-core"));
const axe = fs.readFileSync(path.join(tools, "axe-core", "axe.min.js"), "utf8");
const PAGES = ["", "/memories", "/conversations", "/files", "/reviews", "/tasks", "/quarantine", "/groups",
  "/try?question=Where+does+my+sister+live", "/numbers", "/moving", "/forget?text=sister"];
const TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];

(async () => {
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu"] });
  for (const [colorScheme, width] of [["light", 1200], ["dark", 1200], ["light", 360]]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    const page = await context.newPage();
    const errors = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    const look = async (url) => {
      const response = await page.goto(url);
      await page.evaluate(`${axe};1`);
      const found = await page.evaluate((tags) => axe.run(document, { runOnly: tags }).then((run) =>
        run.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)}`)), TAGS);
      const overflow = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      console.log(JSON.stringify({ url: url.slice(origin.length), colorScheme, width, status: response.status(), violations: found,
        overflow, errors: errors.splice(0) }));
      const name = new URL(url).pathname.split("/").slice(2).join("-").replace(/_\w+/, "") || "overview";
      if (shots) await page.screenshot({ path: path.join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: width > 400 });
    };
    await look(`${origin}/`);
    await page.fill("#key", key);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/dashboard/");
    for (const one of PAGES) await look(`${origin}/dashboard${one}`);
    for (const [list, link] of [["/memories", ".cards .text a"], ["/conversations", "table a"], ["/files", ".grid a"], ["/files", ".cards a"]]) {
      await page.goto(`${origin}/dashboard${list}`);
      await look(origin + (await page.getAttribute(link, "href")));
      const receipt = await page.getAttribute(".did a[href*=receipts]", "href", { timeout: 200 }).catch(() => null);
      if (receipt) await look(origin + receipt);
    }
    await page.goto(`${origin}/dashboard/memories`);
    await page.fill("#query", "sister");
    await page.waitForURL(/query=sister/);
    console.log(JSON.stringify({ url: "search as you type", found: await page.textContent("#list"), at: page.url().slice(origin.length) }));
    await context.close();
  }
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
