// The page asks the worker, and shows what it answers.
"use strict";
const $ = (id) => document.getElementById(id);
const waiting = new Map();
let worker = null, asked = 0, last = null, hints = 0;

async function part(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
const text = async (id) => new TextDecoder().decode(await part(id));

function send(message) {
  return new Promise((resolve, reject) => {
    message.id = ++asked;
    waiting.set(message.id, { resolve, reject });
    worker.postMessage(message);
  });
}

async function ask(todo, argument = "") {
  hints = todo === "hint" ? hints + 1 : 0;
  const reply = await send({ request: { do: todo, text: argument } });
  show(reply);
  return reply;
}

function element(tag, classes, content) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  made.textContent = content;
  return made;
}

function lines(target, told) {
  target.replaceChildren(...told.map((pieces) => {
    const row = document.createElement("div");
    row.append(...pieces.map(([words, role]) => element("span", role, words)));
    return row;
  }));
}

function story(kind, words) {
  const shown = kind === "typed" ? `> ${words}` : words;
  $("story").append(element("p", kind, shown));
  $("story").scrollTop = $("story").scrollHeight;
}

function map({ rows, signs }) {
  const drawn = element("pre", "", rows.join("\n"));
  drawn.tabIndex = 0;
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", "Map: " + signs.map(([sign, names]) => `${sign} is ${names}`).join("; "));
  const legend = document.createElement("div");
  legend.className = "lines";
  lines(legend, signs.map(([sign, names]) => [[`${sign} `, "head"], [names, "plain"]]));
  const both = document.createElement("div");
  both.append(drawn, legend);
  return both;
}

function choice(words) {
  const button = element("button", "", words);
  button.type = "button";
  button.addEventListener("click", () => give(words));
  return button;
}

function show(reply) {
  last = reply;
  if (reply.restarted) $("story").replaceChildren();
  for (const { kind, text } of reply.entries) story(kind, text);
  if (reply.error) story("fault", reply.error);
  $("status").textContent = reply.status;
  $("place").textContent = reply.place;
  lines($("facts"), reply.facts);
  $("carrying").hidden = reply.carried === null;
  $("carried").textContent = (reply.carried || []).join(", ") || "nothing";
  $("maps").replaceChildren(...reply.maps.map(map));
  $("count").textContent = `(${reply.legal.length})`;
  $("legal").replaceChildren(...reply.legal.slice(0, 300).map(choice));
  $("known").replaceChildren(...reply.legal.slice(0, 300).map((words) => {
    const option = document.createElement("option");
    option.value = words;
    return option;
  }));
  $("details").hidden = !reply.details;
  lines($("details-lines"), reply.details || []);
}

async function give(words) {
  $("command").value = "";
  await ask("give", words);
}

async function copy() {
  const { link } = await ask("link");
  history.replaceState(null, "", `#${link}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $("told").textContent = "The link is copied: it opens this game as it is now.";
  } catch {
    $("told").textContent = "The address of this page opens this game as it is now: copy it.";
  }
}

async function save() {
  const { script } = await ask("script");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([script], { type: "text/plain" }));
  link.download = `${document.title}.txt`;
  link.click();
  $("told").textContent = "The script is saved: tw run --script plays it.";
}

const doing = {
  link: copy,
  script: save,
  restart: async () => { history.replaceState(null, "", "#"); await ask("restart"); },
  hint: () => ask("hint", String(hints)),
  why: () => ask("why", $("command").value.trim()),
};

document.addEventListener("click", async ({ target }) => {
  const todo = target.dataset && target.dataset.do;
  if (!todo) return;
  target.disabled = true;
  if (todo === "hint") $("status").textContent = "Searching for the next step …";
  try {
    await (doing[todo] || ask)(todo);
  } finally {
    target.disabled = false;
  }
});
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = $("command").value.trim();
  if (words) give(words);
});
document.addEventListener("keydown", (event) => {
  if (!event.ctrlKey || $("command").value) return;
  const todo = { z: "undo", y: "redo" }[event.key];
  if (!todo || !last) return;
  event.preventDefault();
  ask(todo);
});

async function begin() {
  const names = [...document.querySelectorAll("script.part")].map((one) => one.id);
  const read = await Promise.all(names.map(part));
  const parts = Object.fromEntries(names.map((name, place) => [name, read[place]]));
  worker = new Worker(URL.createObjectURL(new Blob([await text("worker.js")], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    data.failed ? reject(new Error(data.failed)) : resolve(data.reply);
  };
  const shown = await send({ parts, bundle: await text("bundle"), request: { do: "view" } });
  $("game").hidden = false;
  for (const button of document.querySelectorAll("footer button")) button.disabled = false;
  show(shown);
  story("welcome", "Type a command, or choose one. A refusal says why.");
  if (location.hash.includes("play=")) await ask("open", location.hash.slice(1));
  window.published = { ask };
}
begin().catch((error) => {
  $("status").textContent = `The game cannot begin in this browser: ${error.message}`;
});
