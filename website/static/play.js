// Behind every piece of SaC a link that opens it in the playground.

const HERE = document.currentScript?.src ?? "";
const PLAYGROUND = new URL("../playground/index.html", HERE).href;
const PROMPT = /^(?:>>>|\.\.\.) ?/;

function program(block, session) {
  const text = block.textContent.replace(/\s+$/, "") + "\n";
  if (!session) return text;
  return text.split("\n").filter((line) => PROMPT.test(line)).map((line) => line.replace(PROMPT, "")).join("\n") + "\n";
}

for (const block of document.querySelectorAll(".highlight-sac, .highlight-sac-session, .highlight-sacpy")) {
  const text = program(block.querySelector("pre"), !block.classList.contains("highlight-sac"));
  if (/for T: /.test(text) || !text.trim()) continue; // a signature
  const link = document.createElement("a");
  link.className = "play";
  link.href = `${PLAYGROUND}#p=${encodeURIComponent(text)}`;
  link.textContent = "▶ run";
  link.title = "Open it in the playground";
  block.querySelector(".highlight").append(link);
}
