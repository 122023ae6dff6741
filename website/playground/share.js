// A program in the fragment of an address: deflated, in the alphabet of URLs. The server never sees it.

const bytesOf = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());

const through = (bytes, transform) => bytesOf(new Blob([bytes]).stream().pipeThrough(transform));

const toText = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const fromText = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** The fragment for a text and its standard input. */
export async function packed(text, stdin) {
  const bytes = new TextEncoder().encode(JSON.stringify(stdin ? { text, stdin } : { text }));
  if (typeof CompressionStream === "undefined") return "#t=" + toText(bytes);
  return "#z=" + toText(await through(bytes, new CompressionStream("deflate-raw")));
}

/** What a fragment holds: {text, stdin}; null where it holds no program. Throws where it is damaged. */
export async function unpacked(fragment) {
  const [, kind, content] = /^#([ztp])=(.*)$/.exec(fragment) ?? [];
  if (!kind) return null;
  if (kind === "p") return { text: decodeURIComponent(content), stdin: "" };
  let bytes = fromText(content);
  if (kind === "z") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
  const { text, stdin = "" } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  return { text: String(text), stdin: String(stdin) };
}
