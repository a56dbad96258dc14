// Signs in and walks every page in light and dark, narrow and wide, with axe; then does a few things with and without
// scripts. Prints one JSON line each.
const fs = require("node:fs");
const path = require("node:path");
const [origin, key, operator, tools, chromiumPath, shots] = process.argv.slice(2);
const { chromium } = require(path.join(tools, "playwright-core"));
const axe = fs.readFileSync(path.join(tools, "axe-core", "axe.min.js"), "utf8");
const PAGES = ["", "/memories", "/conversations", "/files", "/reviews", "/tasks", "/quarantine", "/groups",
  "/try?question=Where+does+my+sister+live", "/numbers", "/moving", "/forget?text=sister"];
const ENTRIES = [["/memories", ".cards .text a"], ["/files", ".grid a"], ["/files", ".cards a"],
  ["/conversations", "td a:has-text('sister live')"]];
const TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];
const say = (told) => console.log(JSON.stringify(told));

const signIn = async (page, withKey) => {
  await page.goto(`${origin}/dashboard/sign-in`);
  await page.fill("#key", withKey);
  await page.press("#key", "Enter");
  await page.waitForURL("**/dashboard/");
};

const walk = async (browser, colorScheme, width) => {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  const look = async (url) => {
    const response = await page.goto(url, { waitUntil: "networkidle" });
    const [list, entry] = new URL(page.url()).pathname.split("/").slice(2);
    const name = (entry ? list.replace(/ies$/, "y").replace(/s$/, "") : list) || "overview";
    if (shots && width > 400) await page.screenshot({ path: path.join(shots, `${name}-${colorScheme}.png`), fullPage: true });
    await page.evaluate(`${axe};1`);
    const violations = await page.evaluate((tags) => axe.run(document, { runOnly: tags }).then((run) =>
      run.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)}`)), TAGS);
    const overflow = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    say({ url: url.slice(origin.length), colorScheme, width, status: response.status(), violations, overflow, errors: errors.splice(0) });
  };
  await look(`${origin}/`);
  await signIn(page, key);
  for (const one of PAGES) await look(`${origin}/dashboard${one}`);
  for (const [list, link] of ENTRIES) {
    await page.goto(`${origin}/dashboard${list}`);
    await look(origin + (await page.getAttribute(link, "href")));
  }
  await look(origin + (await page.getAttribute(".did a[href*=receipts]", "href")));
  await page.goto(`${origin}/dashboard/memories`);
  await page.fill("#query", "sister");
  await page.waitForURL(/query=sister/);
  say({ search: await page.textContent("#list"), at: page.url().slice(origin.length) });
  await context.clearCookies();
  await signIn(page, operator);
  await look(`${origin}/dashboard/operator?over=month`);
  await context.close();
};

// Features that need scripts: live progress, and queues that one key press decides.
const act = async (browser) => {
  const page = await browser.newPage();
  await signIn(page, key);
  await page.goto(`${origin}/dashboard/moving`);
  const lines = Array.from({ length: 40 }, (_, n) => `My boat ${n} is called Fru${n}`).join("\n");
  await page.setInputFiles("#file", { name: "list.txt", mimeType: "text/plain", buffer: Buffer.from(lines) });
  await page.click("text=Bring in >> nth=-1");
  await page.waitForSelector(".badge.done", { timeout: 60000 });
  say({ imported: await page.textContent(".cards") });
  const download = page.waitForEvent("download");
  await page.click("text=Download");
  await (await download).path();
  await page.waitForSelector("output:has-text('/')");
  say({ exported: await page.textContent("output") });
  for (const [queue, pressed] of [["reviews", "d"], ["quarantine", "r"], ["tasks", "d"]]) {
    await page.goto(`${origin}/dashboard/${queue}`);
    const before = await page.locator("[data-keys]").count();
    await Promise.all([page.waitForEvent("load"), page.keyboard.press(pressed)]);
    say({ queue, before, after: await page.locator("[data-keys]").count() });
  }
  await page.context().close();
};

const withoutScripts = async (browser) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, key);
  await page.goto(`${origin}/dashboard/memories`);
  await page.fill("#text", "I mend clocks on Sundays");
  await page.click("text=Remember");
  const stated = await page.textContent("[role=status]");
  await page.fill("#query", "clocks");
  await page.click("text=Show >> nth=0");
  say({ withoutScripts: await page.textContent("#list"), stated });
  await context.close();
};

(async () => {
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu"] });
  for (const [colorScheme, width] of [["light", 1100], ["dark", 1100], ["light", 360]]) await walk(browser, colorScheme, width);
  await act(browser);
  await withoutScripts(browser);
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
