// Text with the colours of a terminal (SGR, ECMA-48 8.3.117) as elements; other control sequences are dropped.

const SEQUENCE = /\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Appends the text to an element. `state`: the set of classes that hold from here on, kept from text to text. */
export function append(element, text, state) {
  let at = 0;
  for (const found of text.matchAll(SEQUENCE)) {
    piece(element, text.slice(at, found.index), state);
    if (found[1] !== undefined) obey(found[1], state);
    at = found.index + found[0].length;
  }
  piece(element, text.slice(at), state);
}

function obey(codes, state) {
  for (const code of codes.split(";").map(Number)) {
    if (code === 0) state.clear();
    else if (code === 1) state.add("bold");
    else if (code === 2) state.add("faint");
    else if (code === 3) state.add("italic");
    else if (code === 4) state.add("under");
    else if (code === 22) ["bold", "faint"].forEach((name) => state.delete(name));
    else if (code === 39) COLOURS.forEach((name) => state.delete(name));
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      COLOURS.forEach((name) => state.delete(name));
      state.add(COLOURS[code % 10]);
    }
  }
}

function piece(element, text, state) {
  if (!text) return;
  if (!state.size) {
    element.append(text);
    return;
  }
  const span = document.createElement("span");
  span.className = [...state].map((name) => `ansi-${name}`).join(" ");
  span.textContent = text;
  element.append(span);
}
