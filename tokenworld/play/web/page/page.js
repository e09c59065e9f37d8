// Tells the terminal where its game is, and starts it when its font is there; keys go to it.
"use strict";

(() => {
  const terminal = document.querySelector("#terminal");
  const again = document.querySelector("#again");
  const socket = new URL("ws", document.baseURI);
  socket.protocol = socket.protocol.replace("http", "ws");
  terminal.dataset.sessionWebsocketUrl = socket.href;

  // textual-serve measures its cells when the page is loaded: not before the font is.
  const start = window.onload;
  window.onload = async (event) => {
    const faces = ["16px", "bold 16px", "italic 16px"];
    await Promise.allSettled(faces.map((face) => document.fonts.load(`${face} "Roboto Mono"`)));
    start(event);
  };

  // It marks the body when the socket is open (before that no key can be sent), and at the end.
  let open = false;
  const marks = document.body.classList;
  const heed = () => {
    if (marks.contains("-closed")) again.focus();
    else if (marks.contains("-loaded") && !open) {
      open = true;
      terminal.querySelector("textarea").focus();
    }
  };
  new MutationObserver(heed).observe(document.body, { attributeFilter: ["class"] });
  again.addEventListener("click", () => window.location.reload());
})();
