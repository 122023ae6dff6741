// Drives the playground in a headless browser, and prints what was seen as JSON.
//
// usage: node browser.mjs PUPPETEER_FOLDER CHROMIUM PLAIN_ADDRESS ISOLATED_ADDRESS FOLDER
//
// PLAIN_ADDRESS and ISOLATED_ADDRESS are the playground's page, the second served cross-origin isolated. Screenshots go
// into FOLDER.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, chromium, plain, isolated, folder] = process.argv.slice(2);
const found = createRequire(join(modules, "x.js")).resolve("puppeteer-core");
const puppeteer = (await import(pathToFileURL(found))).default;

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
  protocolTimeout: 120_000,
});
const seen = { foreign: [], trouble: [] };

async function page(address, { width = 1280, height = 800, dark = false, before, context = browser } = {}) {
  const made = await context.newPage();
  made.on("pageerror", (error) => seen.trouble.push(`${error.message ?? error}`));
  made.on("console", (message) => message.type() === "error" && seen.trouble.push(message.text()));
  made.on("request", (request) => {
    if (!/^(?:http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) seen.foreign.push(request.url());
  });
  await made.setViewport({ width, height });
  await made.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  if (before) await made.evaluateOnNewDocument(before);
  await made.goto(address, { waitUntil: "domcontentloaded" });
  await made.waitForSelector(".cm-content");
  return made;
}

const state = (at) => at.$eval("#state", (e) => e.textContent);
const output = (at) => at.$eval("#output", (e) => e.textContent);
const until = (at, check, ...more) => at.waitForFunction(check, { timeout: 90_000, polling: 30 }, ...more);
const idle = (at) => until(at, () => /^(done|failed|stopped|ready)/.test(document.querySelector("#state").textContent));
const holds = (at, text) => until(at, (text) => document.querySelector("#output").textContent.includes(text), text);
const shot = (at, name) => at.screenshot({ path: join(folder, `${name}.png`) });

/** Milliseconds of processor time that the browser's processes have taken, all their threads together. */
function processorTime() {
  const children = new Map();
  const spent = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      children.set(fields[1], [...(children.get(fields[1]) ?? []), id]);
      spent.set(id, 10 * (Number(fields[11]) + Number(fields[12])));
    } catch {
      // it has just ended
    }
  }
  const sum = (id) => (children.get(id) ?? []).reduce((all, child) => all + sum(child), spent.get(id) ?? 0);
  return sum(String(browser.process().pid));
}

async function enter(at, program, stdin = "") {
  await at.evaluate((text) => { location.hash = "#p=" + encodeURIComponent(text); }, program);
  await until(at, (text) => document.querySelector(".cm-content").innerText.startsWith(text.split("\n")[0]), program);
  await at.evaluate((text) => { document.querySelector("#stdin").value = text; }, stdin);
}

async function run(at, program, stdin) {
  await enter(at, program, stdin);
  await at.click("#run");
  await idle(at);
  return output(at);
}

// the first result, from the beginning of a visit: three times with nothing in the browser's caches
seen.first = [];
seen.cpu = [];
for (let visit = 0; visit < 3; visit++) {
  const context = await browser.createBrowserContext();
  await new Promise((done) => setTimeout(done, 1500)); // until the processes of the visit before have ended
  const before = processorTime();
  const fresh = await page(plain, { context });
  await fresh.click("#run");
  await until(fresh, () => document.querySelector("#output").childElementCount > 0);
  seen.first.push(await fresh.evaluate(() => performance.now()));
  seen.cpu.push(processorTime() - before);
  await context.close();
}
const at = await page(plain);
await at.click("#run");
await idle(at);
seen.plot = await at.$$eval("#output svg path, #output svg polyline", (all) => all.length);
seen.table = await at.$$eval("#output table td", (all) => all.length);
await shot(at, "light");

// a mistake: the message as sacpy renders it, marks in the text, and the same while one types
seen.error = await run(at, "a = iota(3);\na[7]\n");
seen.marks = await at.$$eval(".cm-lintRange-error, .cm-lint-marker-error", (all) => all.length);
seen.coloured = await at.$$eval("pre.said .ansi-red", (all) => all.length);
seen.explained = await at.$eval("pre.said a", (e) => e.getAttribute("href"));
await shot(at, "error");
await enter(at, "int main()\n{\n  return unknown;\n}\n");
await at.waitForSelector(".cm-lintRange-error", { timeout: 20_000 });
seen.typing = await at.$eval(".cm-lintRange-error", (e) => e.textContent);
seen.unrun = await output(at);

// output as it comes, and an end to what has none; the page answers meanwhile
const endless =
  'use StdIO: all;\nuse Array: all;\nint main() { printf("begun\\n"); i = 0; while (true) { i = (i + 1) % 1000; } return i; }\n';
await enter(at, endless);
await at.keyboard.down("Control");
await at.focus(".cm-content");
await at.keyboard.press("Enter");
await at.keyboard.up("Control");
await holds(at, "begun");
const asked = Date.now();
await at.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(1))));
seen.answered = Date.now() - asked;
seen.running = await state(at);
await shot(at, "endless");
await at.click("#stop");
await holds(at, "stopped");
seen.stopped = await state(at);
await shot(at, "stopped");
seen.after = await run(at, "40 + 2\n");

// programs: what they write, read, and end with
seen.program = await run(at, 'use StdIO: all;\nint main() { printf("\\033[31mred\\033[0m\\n"); return 3; }\n');
seen.status = await state(at);
await at.select("#examples", await at.$eval("#examples", (e) => [...e.options].find((o) => o.text === "mandelbrot").value));
await at.click("#run");
await until(at, () => document.querySelector("#output figure img")?.complete && document.querySelector("#output figure img").naturalWidth);
await idle(at);
seen.picture = await at.$eval("#output figure img", (e) => [e.naturalWidth, e.naturalHeight]);
seen.example = await at.evaluate(() => location.hash);
await shot(at, "picture");
await at.select("#examples", await at.$eval("#examples", (e) => [...e.options].find((o) => o.text === "calculator").value));
await at.click("#run");
await idle(at);
seen.calculator = await output(at);
await at.select("#examples", await at.$eval("#examples", (e) => [...e.options].find((o) => /^Life/.test(o.text)).value));
await at.click("#run");
await idle(at);
seen.life = (await output(at)).match(/generation/g)?.length;
seen.deep = await run(at, "int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); }\nf(300)\nf(1000000)\n");
seen.alive = await run(at, "6 * 7\n");

// a link holds the program and its input
await enter(at, "x = \"● ü\";\nx\n", "some input\n");
await at.click("#share");
await until(at, () => location.hash.startsWith("#z="));
const link = await at.evaluate(() => location.href);
const other = await page(link);
await until(other, () => document.querySelector(".cm-content").innerText.startsWith("x ="));
seen.shared = await other.evaluate(() => [document.querySelector(".cm-content").innerText, document.querySelector("#stdin").value]);
await other.close();
const damaged = await page(plain + "#z=AAAA");
await holds(damaged, "damaged");
await damaged.close();
await at.close();

// where workers can be interrupted, the interpreter stays
const shared = await page(isolated);
await idle(shared);
seen.isolated = await shared.evaluate(() => self.crossOriginIsolated);
await enter(shared, endless);
await shared.click("#run");
await holds(shared, "begun");
await shared.keyboard.press("Escape");
await holds(shared, "E0702");
seen.interrupted = await state(shared);
await shared.close();

// dark, and as wide as a phone
const narrow = await page(plain, { width: 390, height: 844, dark: true });
await narrow.click("#run");
await idle(narrow);
seen.narrow = await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth);
seen.back = await narrow.evaluate(() => getComputedStyle(document.body).backgroundColor);
await shot(narrow, "narrow-dark");
await narrow.setViewport({ width: 1280, height: 800 });
await narrow.select("#examples", await narrow.$eval("#examples", (e) => [...e.options].find((o) => /GPU/.test(o.text)).value));
await narrow.click("#run");
await idle(narrow);
await shot(narrow, "dark");
await narrow.click("#theme");
seen.light = await narrow.evaluate(() => getComputedStyle(document.body).backgroundColor);
await narrow.close();

// a browser that cannot do it says so
seen.problems = [...seen.trouble];
const old = await page(plain, { before: () => { delete self.WebAssembly; } });
await until(old, () => !document.querySelector("#trouble").hidden);
seen.old = await old.$eval("#trouble", (e) => e.textContent);
await shot(old, "old");
await old.close();
await browser.close();
console.log(JSON.stringify(seen));
