// SaC for CodeMirror: a line-by-line tokenizer over the language's own words (words.json is made from sacpy's tables).

import { StreamLanguage } from "@codemirror/language";
import words from "./words.json";

const sets = Object.fromEntries(Object.entries(words).map(([name, list]) => [name, new Set(list)]));

function token(stream, state) {
  if (state.comment) {
    if (stream.skipTo("*/")) {
      stream.match("*/");
      state.comment = false;
    } else stream.skipToEnd();
    return "comment";
  }
  const first = stream.sol();
  if (stream.eatSpace()) return null;
  if ((first || /^\s*$/.test(stream.string.slice(0, stream.start))) && state.top && stream.match(/^[:?][A-Za-z]\w*/))
    return "meta";
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.comment = true;
    return token(stream, state);
  }
  if (stream.match(/^#\s*[a-z]*/)) {
    state.pragma = /pragma/.test(stream.current());
    return "meta";
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return "string";
  if (stream.match(/^(?:0[xX][0-9a-fA-F]+|(?:\d+\.(?!\.)\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)\w*/)) return "number";
  const name = stream.match(/^[A-Za-z_]\w*/);
  if (name) {
    const word = name[0];
    if (sets.types.has(word)) return "typeName";
    if (sets.constants.has(word)) return "atom";
    if (sets.keywords.has(word)) return "keyword";
    if (sets.withloops.has(word) && stream.match(/^\s*\(/, false)) return "keyword";
    if (sets.filters.has(word) && stream.match(/^\s+[\w[]/, false)) return "keyword";
    if (state.pragma && sets.mappings.has(word)) return "keyword";
    if (stream.match(/^\s*::/, false)) return "namespace";
    return stream.match(/^\s*\(/, false) ? "variableName.function" : "variableName";
  }
  const bracket = stream.match(/^[()[\]{},;]/);
  if (bracket) {
    if (bracket[0] === "{") state.depth++;
    if (bracket[0] === "}") state.depth = Math.max(0, state.depth - 1);
    state.top = state.depth === 0;
    return "punctuation";
  }
  if (stream.match(/^[-+*/%<>=!&|^~@$?:\\`.]+/)) return "operator";
  stream.next();
  return null;
}

export const sac = StreamLanguage.define({
  name: "sac",
  startState: () => ({ comment: false, pragma: false, depth: 0, top: true }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (stream.sol()) state.pragma = false;
    return token(stream, state);
  },
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    indentOnInput: /^\s*\}$/,
  },
  indent(state, after, context) {
    const closing = /^\s*\}/.test(after) ? 1 : 0;
    return Math.max(0, state.depth - closing) * context.unit;
  },
});
