// Draws a debate's live view from messages and sends its forms. One ES module, no build, no network.
// Every text goes into the page as text, never as markup: it comes from models and is hostile.

const MARK = "● ";
const MANY = 40;
const DRAFT_MS = 400;
const PATIENCE_MS = 10000;
const HELD_PX = 8;

// What all views in this page share; each widget loads its own copy of this module.
const shared = (window.__rtNotebook ??= {
  page: Math.random().toString(36).slice(2),
  stores: new Map(),
  waiting: new Set(),
  offset: null,
  installed: false,
});

function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined && text !== null) node.textContent = text;
  return node;
}

function put(parent, ...children) {
  for (const child of children) if (child) parent.appendChild(child);
  return parent;
}

// Bold and code are shown as such; anything else stays as it was written.
const INLINE = /\*\*([^*\n]{1,300})\*\*|`([^`\n]{1,300})`/g;

function prose(tag, name, text) {
  const node = make(tag, name);
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    node.append(text.slice(last, found.index));
    node.appendChild(found[1] ? make("strong", "", found[1]) : make("code", "", found[2]));
    last = found.index + found[0].length;
  }
  node.append(text.slice(last));
  return node;
}

// Headings, lists and paragraphs, no more: what a turn of a discussion needs.
function markdown(name, text) {
  const box = make("div", name);
  let list = null;
  for (const line of text.split("\n")) {
    const point = /^\s*(?:[-*•]|\d{1,3}[.)])\s+(.*)$/.exec(line);
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    if (point) list ??= put(box, make("ul", "rt-points")).lastChild;
    else list = null;
    if (point) put(list, prose("li", "", point[1]));
    else if (heading) put(box, prose("div", "rt-words-heading", heading[1]));
    else if (line.trim()) put(box, prose("p", "rt-words-line", line));
  }
  return box;
}

function clock(ms) {
  const total = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (n) => String(n).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function seconds(ms) {
  return ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : ms < 60000 ? `${Math.round(ms / 1000)} s` : clock(ms);
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

// The kernel's clock: its messages say what time it was there.
function kernelNow() {
  return Date.now() - (shared.offset ?? 0);
}

function retext(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function swatch(color) {
  const dot = make("span", "rt-dot");
  dot.style.background = color;
  return dot;
}

function stanceChip(message) {
  const chip = make("span", "rt-chip", message.label ?? "unreadable");
  chip.title = message.label ?? "";
  if (message.color) {
    chip.style.background = message.color;
    chip.style.color = message.ink;
  } else {
    chip.classList.add(message.key === "PASS" ? "rt-chip-pass" : "rt-chip-bad");
  }
  return chip;
}

class View {
  constructor(root, uid) {
    this.uid = uid;
    this.root = put(root, this.skeleton());
    this.reset();
  }

  skeleton() {
    this.live = make("section", "rt-live");
    this.live.setAttribute("aria-label", "Debate");
    this.status = make("div", "rt-sr");
    this.status.setAttribute("role", "status");
    this.status.setAttribute("aria-live", "polite");
    this.head = make("header", "rt-head");
    this.log = make("div", "rt-log");
    this.log.tabIndex = 0;
    this.log.setAttribute("aria-label", "Replies");
    this.log.addEventListener("scroll", () => this.scrolled(), { passive: true });
    // A narrower page makes the replies taller, and those that come into sight take their height
    // only then: whoever was at the newest reply stays there.
    this.sizes = new ResizeObserver(() => this.stick());
    this.end = make("div", "rt-end");
    return put(this.live, this.status, this.head, this.log, this.end);
  }

  // Only a person who scrolls up leaves the newest reply; a page that changes its size doesn't.
  scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    if (scrollHeight - scrollTop - clientHeight < 40) this.follows = true;
    else if (scrollTop < this.top) this.follows = false;
    this.top = scrollTop;
  }

  stick() {
    if (!this.follows) return;
    this.log.scrollTop = this.log.scrollHeight;
    this.top = this.log.scrollTop;
  }

  reset() {
    this.sizes.disconnect();
    this.sizes.observe(this.log);
    this.top = 0;
    this.head.replaceChildren();
    this.log.replaceChildren();
    this.end.replaceChildren();
    this.cards = new Map();
    this.rounds = new Map();
    this.seats = new Map();
    this.ticking = new Map();
    this.meta = null;
    this.kind = "review";
    this.place = this.log;
    this.follows = true;
    this.openGate = null;
    this.startedAt = this.endedAt = null;
    this.setWaiting("gate", false);
  }

  drawAll(messages) {
    const many = messages.length > MANY;
    if (many) this.log.remove();
    for (const message of messages) {
      const draw = this[`draw_${message.type}`];
      if (draw) draw.call(this, message);
    }
    if (many) this.live.insertBefore(this.log, this.end);
    this.stick();
    this.tick();
  }

  // Twice a second: what counts by itself, without any message.
  tick() {
    const now = kernelNow();
    for (const [node, at] of this.ticking) retext(node, seconds(Math.max(0, now - at)).replace(/\.\d/, ""));
    if (this.meta && this.startedAt !== null) retext(this.meta.clock, clock((this.endedAt ?? now) - this.startedAt));
  }

  draw_header(message) {
    this.head.replaceChildren();
    this.seats.clear();
    this.kind = message.kind ?? "review";
    this.startedAt = message.started_at;
    const top = make("div", "rt-meta");
    this.meta = {};
    for (const name of ["state", "round", "clock", "calls", "cost", "budget"]) {
      this.meta[name] = put(top, make("span", `rt-meta-item rt-meta-${name}`)).lastChild;
    }
    this.meta.state.textContent = "Starting";
    this.meta.clock.setAttribute("role", "timer");
    this.meta.clock.setAttribute("aria-live", "off");
    const bar = make("div", "rt-bar");
    bar.setAttribute("role", "progressbar");
    bar.setAttribute("aria-label", "Progress of the debate");
    this.bar = bar;
    put(bar, make("div", "rt-bar-fill"));
    put(this.head, top, bar, this.question(message.question), this.options(message), this.seatRow(message));
    if (message.banner) put(this.head, prose("div", "rt-banner", message.banner));
    if (message.vendors.length) {
      put(this.head, make("div", "rt-vendors", `The brief goes to: ${message.vendors.join(", ")}`));
    }
  }

  question(text) {
    const lines = text.trim().split("\n");
    const first = prose("div", "rt-question", lines[0].replace(/^#+\s+/, "").slice(0, 400));
    if (lines.length < 2 && text.length <= 400) return first;
    const more = make("details", "rt-more");
    return put(more, put(make("summary"), first), prose("div", "rt-pre", text));
  }

  options(message) {
    const row = make("div", "rt-options");
    message.options.forEach((option, n) => {
      const chip = make("span", "rt-option");
      const number = make("span", "rt-number", String(n + 1));
      number.style.background = option.color;
      number.style.color = option.ink;
      put(row, put(chip, number, make("span", "rt-clip", option.label)));
    });
    return row;
  }

  seatRow(message) {
    const row = make("div", "rt-seats");
    for (const seat of message.seats) {
      const pill = make("div", "rt-seat");
      const details = [seat.model, seat.role].filter(Boolean).join(" · ");
      const state = make("span", "rt-seat-state");
      pill.title = `${seat.name} · ${details}${seat.hidden ? " · not counted" : ""}`;
      const name = make("span", "rt-seat-name", seat.name);
      if (seat.hidden) pill.classList.add("rt-seat-hidden");
      put(row, put(pill, swatch(seat.color), name, make("span", "rt-seat-role", details), state));
      this.seats.set(seat.name, { color: seat.color, state, hidden: seat.hidden });
    }
    return row;
  }

  draw_clock(message) {
    this.startedAt = message.started_at;
    this.endedAt = null;
  }

  draw_progress(message) {
    if (!this.meta) return;
    const words = { running: "Running", waiting: "Waiting for you", verdict: this.kind === "discussion" ? "Summary" : "Verdict", done: "Done", stopped: "Stopped", paused: "Paused", interrupted: "Interrupted", error: "Error" };
    if (!this.openGate) this.setState(words[message.status] ?? message.status, message.status);
    const round = message.round < 0 ? "" : message.round === 0 ? "Opening" : `Round ${message.round} of ${message.rounds}`;
    retext(this.meta.round, round);
    this.setCalls(message.calls);
    retext(this.meta.cost, message.cost === null ? "" : `$${message.cost.toFixed(message.cost > 0 && message.cost < 1 ? 4 : 2)}`);
    retext(this.meta.budget, this.left(message.budget));
    const percent = Math.round(message.fraction * 100);
    this.bar.firstChild.style.width = `${percent}%`;
    this.bar.setAttribute("aria-valuenow", String(percent));
  }

  left(budget) {
    const parts = [];
    for (const [name, { bound, used }] of Object.entries(budget)) {
      if (used === null && name !== "max_cost") continue;
      const rest = Math.max(0, bound - (used ?? 0));
      const what = name.replace("max_", "").replace("calls_per_vendor.", "calls of ");
      parts.push(name === "max_cost" ? `$${rest.toFixed(2)}` : `${rest.toLocaleString("en")} ${what}`);
    }
    return parts.length ? `${parts.join(", ")} left` : "";
  }

  setState(text, status) {
    retext(this.meta.state, text);
    this.meta.state.dataset.status = status;
  }

  setCalls(count) {
    if (this.meta) retext(this.meta.calls, plural(count, "call"));
  }

  draw_round(message) {
    if (this.rounds.has(message.round)) return;
    const title = message.round === 0 ? "Opening" : `Round ${message.round}`;
    const section = make("section", "rt-round");
    const cards = make("div", this.kind === "discussion" ? "rt-talk" : "rt-cards");
    put(section, make("div", "rt-round-title", title), cards);
    put(this.log, section);
    this.sizes.observe(section);
    // In a discussion lines stand between the turns where they were said.
    if (this.kind === "discussion") this.place = cards;
    this.rounds.set(message.round, { section, cards });
  }

  card(message) {
    const key = `${message.round}/${message.seat}`;
    let card = this.cards.get(key);
    if (!card) {
      this.draw_round({ round: message.round });
      card = make("article", "rt-card");
      card.style.borderLeftColor = this.seats.get(message.seat)?.color ?? "#7F7F7F";
      card.setAttribute("aria-label", `${message.seat}, ${message.round === 0 ? "opening" : `round ${message.round}`}`);
      this.cards.set(key, card);
      put(this.rounds.get(message.round).cards, card);
    }
    for (const node of card.querySelectorAll(".rt-since")) this.ticking.delete(node);
    card.className = "rt-card";
    const seat = this.seats.get(message.seat);
    const head = put(make("div", "rt-card-head"), swatch(seat?.color ?? "#7F7F7F"), make("span", "rt-name", message.seat));
    if (seat?.hidden) put(head, make("span", "rt-tag", "not counted"));
    card.replaceChildren(head);
    return { card, head, seat };
  }

  since(at) {
    const node = make("span", "rt-since");
    this.ticking.set(node, at);
    return node;
  }

  draw_asked(message) {
    const { card, head, seat } = this.card(message);
    card.classList.add("rt-card-work");
    const doing = message.repair ? "asked again to keep the form" : message.attempt ? `try ${message.attempt}` : "at work";
    put(head, make("span", "rt-working", doing), this.since(message.at));
    if (seat) this.work(seat, "at work");
    this.setCalls(message.calls);
  }

  // Where it stands goes on counting while it is at work, and when its call failed.
  work(seat, text) {
    const working = make("span", "rt-working", text);
    seat.state.replaceChildren(...(seat.stance ? [stanceChip(seat.stance)] : []), working);
  }

  draw_reply(message) {
    const { card, head, seat } = this.card(message);
    put(head, stanceChip(message));
    if (message.changed_from) put(head, make("span", "rt-changed", `changed, was ${message.changed_from}`));
    if (message.repaired) put(head, make("span", "rt-tag", "repaired"));
    if (message.took_ms !== undefined) put(head, make("span", "rt-took", seconds(message.took_ms)));
    if (message.errors) this.invalid(card, message);
    if (message.agree_with) put(card, put(make("div", "rt-agree", "Agrees with "), make("b", "", message.agree_with.join(", "))));
    this.points(card, "Disagrees", message.disagree, message.text);
    this.points(card, "New", message.new, message.text);
    this.points(card, "Assumes", message.assumptions, message.text);
    if (message.question) put(card, put(make("div", "rt-ask"), make("b", "", "Asks you "), prose("span", "", this.part(message.question, message.text))));
    if (message.key !== "PASS") put(card, this.fullText(message));
    if (seat) {
      const shown = message.key === "PASS" ? seat.stance : message.key ? message : seat.stance;
      seat.stance = shown;
      seat.state.replaceChildren(...(shown ? [stanceChip(shown)] : [make("span", "rt-working", message.key === "PASS" ? "passes" : "unreadable")]));
    }
  }

  draw_speech(message) {
    const { card, head, seat } = this.card(message);
    if (message.took_ms !== undefined) put(head, make("span", "rt-took", seconds(message.took_ms)));
    put(card, markdown("rt-words", message.text));
    if (message.left_out) put(card, make("div", "rt-tag", `${plural(message.left_out, "more character")}: see the result`));
    if (message.tools.length) put(card, this.tools(message.tools));
    if (seat) seat.state.replaceChildren();
  }

  tools(used) {
    const more = put(make("details", "rt-full"), make("summary", "", `Used ${plural(used.length, "tool")}`));
    for (const tool of used) put(more, make("b", "", tool.name), make("div", "rt-pre", tool.preview));
    return more;
  }

  // A point is sent as its place in the text, where it stands there.
  part(point, text) {
    return typeof point === "string" ? point : text.slice(point[0], point[1]);
  }

  points(card, title, points, text) {
    if (!points) return;
    const list = make("ul", "rt-points");
    for (const point of points) put(list, prose("li", "", this.part(point, text)));
    put(card, make("div", "rt-points-title", title), list);
  }

  invalid(card, message) {
    card.classList.add("rt-card-bad");
    const so = message.repairing ? "asked once more" : "so its stance doesn't count";
    put(card, make("div", "rt-why", `Not in the agreed form, ${so}: ${message.errors.join("; ")}`));
  }

  fullText(message) {
    const more = make("details", "rt-full");
    put(more, make("summary", "", "Full reply"));
    more.addEventListener("toggle", () => {
      if (!more.open || more.childNodes.length > 1) return;
      put(more, make("div", "rt-pre", message.text));
      if (message.left_out) put(more, make("div", "rt-tag", `${plural(message.left_out, "more character")}: see the result`));
    });
    return more;
  }

  draw_failed(message) {
    const { card, head, seat } = this.card(message);
    card.classList.add("rt-card-failed");
    put(head, make("span", "rt-chip rt-chip-bad", message.final ? "failed" : "try failed"), make("span", "rt-tag", message.kind));
    put(card, make("div", "rt-why", message.message || "No reason was given."));
    let next = message.retry_in_s !== undefined ? `Trying again in ${seconds(message.retry_in_s * 1000)}.` : "Its earlier position stays.";
    if (message.retry_in_s === undefined && !seat?.stance) next = "It is asked again in the next round.";
    if (message.next) next = message.next;
    if (message.down) next = "It is left out from here on; a resume asks it again.";
    put(card, make("div", "rt-next", next));
    if (seat) this.work(seat, message.final ? "failed" : "trying again");
  }

  line(name, text) {
    return put(this.place, make("div", `rt-line ${name}`, text)).lastChild;
  }

  draw_notice(message) {
    this.line(`rt-line-${message.tone}`, message.text);
  }

  draw_note(message) {
    this.said(message.source, [{ question: message.heading, text: message.text }]);
  }

  draw_unsent(message) {
    const box = this.line("rt-line-warning", "Not sent, because this closed first. Your text:");
    put(box, make("div", "rt-pre", message.text));
  }

  said(source, entries) {
    const box = make("div", "rt-said");
    put(box, make("div", "rt-said-who", source === "agent" ? "An agent said" : "You said"));
    for (const entry of entries) {
      if (entry.question) put(box, make("div", "rt-said-question", entry.question));
      put(box, make("div", "rt-said-text", entry.text));
    }
    put(this.place, box);
  }

  draw_gate(message) {
    if (message.state === "open") {
      this.openGate = message;
      const asks = message.questions.length ? plural(message.questions.length, "question") : "time for a word";
      this.gateLine = this.line("rt-line-gate", `Waiting for you: ${asks}`);
      put(this.gateLine, this.goToForm());
      if (this.meta) this.setState("Waiting for you", "waiting");
      this.announce(`A form is open below the debate: ${asks}.`);
      this.setWaiting("gate", true);
    } else if (message.state === "answered") {
      const entries = [...message.answers];
      if (message.message) entries.push({ text: message.message });
      if (entries.length) this.said(message.source, entries);
      else if (message.source === "agent") this.line("rt-line-info", "An agent let it go on without an answer.");
    } else if (message.state === "closed") {
      const why = { answered: "", timeout: "No answer in time: open questions stay open.", clock: "The debate's time was up." }[message.why];
      if (this.gateLine && why) this.gateLine.textContent = why;
      else this.gateLine?.remove();
      this.gateLine = this.openGate = null;
      if (this.meta) this.setState("Running", "running");
      this.announce("");
      this.setWaiting("gate", false);
    }
  }

  draw_turn(message) {
    const open = message.state === "open";
    this.setWaiting(`turn ${message.round}/${message.seat}`, open);
    if (open) this.announce(`It is your turn as ${message.seat}: a form is open below the debate.`);
  }

  draw_confirm(message) {
    const open = message.state === "open";
    this.setWaiting("confirm", open);
    this.announce(open ? "A form asks whether to start the debate." : "");
  }

  // The form takes no focus by itself; this is for who wants to go there.
  goToForm() {
    const button = make("button", "rt-go", "Go to the form");
    button.type = "button";
    button.addEventListener("click", () => {
      const form = this.live.closest(".rt-live-box")?.querySelector(".rt-form");
      form?.scrollIntoView({ block: "nearest" });
      form?.querySelector("textarea, input")?.focus({ preventScroll: true });
    });
    return button;
  }

  announce(text) {
    retext(this.status, text);
  }

  // Marks the page's title while something waits for the person.
  setWaiting(what, waits) {
    const key = `${this.uid} ${what}`;
    if (waits) shared.waiting.add(key);
    else shared.waiting.delete(key);
    showMark();
  }

  draw_verdict(message) {
    this.end.replaceChildren();
    const box = put(this.end, make("section", "rt-verdict")).lastChild;
    const title = put(make("div", "rt-verdict-title"), make("span", "rt-verdict-word", message.word ?? "Verdict"));
    const by = make("span", "rt-by", `by ${message.by} (${message.model})`);
    put(box, put(title, by));
    if (message.state === "started") {
      put(title, make("span", "rt-working", "at work"), this.since(message.at));
      return;
    }
    this.ticking.clear();
    if (message.word === "Summary") {
      if (message.state === "failed") put(box, make("div", "rt-why", `The observer failed: ${message.message}`));
      else put(box, markdown("rt-words rt-rationale", message.text));
      return;
    }
    if (message.state === "failed") {
      put(box, make("div", "rt-why", `The chairman failed: ${message.message}`));
      put(box, make("div", "rt-next", `${message.answered[0]} of ${plural(message.answered[1], "seat")} answered.`));
    } else {
      title.insertBefore(stanceChip(message), by);
      if (message.rationale) put(box, prose("div", "rt-pre rt-rationale", message.rationale));
      if (message.dissent) put(box, make("div", "rt-points-title", "Dissent"), prose("div", "rt-pre", message.dissent));
      this.points(box, "What would end it", message.kill_criteria.length ? message.kill_criteria : null, "");
      this.points(box, "Still open", message.open_questions.length ? message.open_questions : null, "");
    }
    put(box, this.tally(message.tally));
  }

  tally(rows) {
    const table = make("div", "rt-tally");
    const most = Math.max(1, ...rows.map((row) => row.seats.length));
    for (const row of rows) {
      const bar = make("div", "rt-tally-bar");
      bar.style.background = row.color;
      bar.style.width = `${(100 * row.seats.length) / most}%`;
      put(table, make("div", "rt-tally-label", row.label), put(make("div", "rt-tally-track"), bar), make("div", "rt-tally-seats", `${row.seats.length} · ${row.seats.join(", ")}`));
    }
    return table;
  }

  draw_concluded(message) {
    this.endedAt = message.at;
    this.draw_over();
    if (!this.end.querySelector(".rt-verdict") && message.tally.length) {
      const box = put(this.end, make("section", "rt-verdict")).lastChild;
      put(box, make("div", "rt-verdict-title", "Where the seats stand"), this.tally(message.tally));
    }
    this.line("rt-line-info", `The debate is over: ${message.text}.`);
    this.announce(`The debate is over: ${message.text}.`);
  }

  // Nothing comes any more: nobody waits, nothing counts.
  draw_over() {
    this.openGate = null;
    this.gateLine?.querySelector(".rt-go")?.remove();
    this.endedAt ??= kernelNow();
    for (const node of this.live.querySelectorAll(".rt-card-work")) node.classList.add("rt-card-idle");
    for (const node of this.ticking.keys()) node.remove();
    this.ticking.clear();
    this.remove();
  }

  remove() {
    for (const key of [...shared.waiting]) if (key.startsWith(`${this.uid} `)) shared.waiting.delete(key);
    showMark();
  }
}

// ---- the page's title ---------------------------------------------------------------------------

function showMark() {
  const plain = document.title.startsWith(MARK) ? document.title.slice(MARK.length) : document.title;
  const wanted = shared.waiting.size ? MARK + plain : plain;
  if (document.title !== wanted) document.title = wanted;
}

// ---- messages: kept for views of the same widget that are made later ------------------------------

function openStore(model) {
  const uid = model.get("uid");
  const history = model.get("history") ?? {};
  const store = { have: history.n ?? 0, messages: [...(history.messages ?? [])], views: new Set(), asked: -1 };
  store.send = (message) => model.send({ page: shared.page, have: store.have, ...message });
  store.hear = (message) => {
    if (message.type === "batch") take(store, message);
    else if (message.type === "ping") store.send({ type: "ready", n: message.n });
    else if (message.type === "form") answerForm(uid, message);
  };
  model.on("msg:custom", store.hear);
  shared.stores.set(uid, store);
  return () => {
    model.off("msg:custom", store.hear);
    if (shared.stores.get(uid) === store) shared.stores.delete(uid);
  };
}

function take(store, batch) {
  const lag = Date.now() - batch.now;
  if (shared.offset === null || lag < shared.offset) shared.offset = lag;
  const end = batch.n + batch.count;
  if (end <= store.have) return;
  if (batch.whole) {
    store.messages = [...batch.messages];
    for (const view of store.views) view.reset();
  } else if (batch.n > store.have) {
    // Something was sent before this page listened: ask for all of it, once.
    if (store.asked !== store.have) store.send({ type: "missing" });
    store.asked = store.have;
    return;
  } else {
    store.messages.push(...batch.messages);
  }
  store.have = end;
  for (const view of store.views) view.drawAll(batch.messages);
}

// ---- forms: one message with all values, so that typed text arrives whole ------------------------

function formOf(target) {
  const form = target instanceof Element ? target.closest(".rt-form") : null;
  const name = form && [...form.classList].find((part) => part.startsWith("rt-form--"));
  if (!name) return null;
  const [uid, serial] = name.slice("rt-form--".length).split("--");
  const store = shared.stores.get(uid);
  return store ? { form, store, serial: Number(serial) } : null;
}

function valuesOf(form) {
  const values = {};
  for (const field of form.querySelectorAll(".rt-field")) {
    const key = [...field.classList].find((part) => part.startsWith("rt-field--"))?.slice("rt-field--".length);
    const text = field.querySelector("textarea, input[type=text]");
    const radios = [...field.querySelectorAll("input[type=radio]")];
    const tick = field.querySelector("input[type=checkbox]");
    if (text) values[key] = text.value;
    else if (radios.length) values[key] = radios.findIndex((radio) => radio.checked);
    else if (tick) values[key] = tick.checked;
  }
  return values;
}

function submit({ form, store, serial }, action) {
  if (form.classList.contains("rt-sending")) return;
  form.classList.add("rt-sending");
  form.querySelector(".rt-late")?.remove();
  store.send({ type: "submit", serial, action, values: valuesOf(form) });
  setTimeout(() => {
    if (!form.isConnected || !form.classList.contains("rt-sending")) return;
    form.classList.remove("rt-sending");
    put(form, make("div", "rt-late", "The kernel hasn't answered yet. Your text is kept; try again."));
  }, PATIENCE_MS);
}

function answerForm(uid, message) {
  for (const form of document.querySelectorAll(`.rt-form--${CSS.escape(uid)}--${message.serial}`)) {
    form.classList.remove("rt-sending");
    form.classList.toggle("rt-sent", Boolean(message.sent));
    if (message.clear) for (const field of form.querySelectorAll("textarea, input[type=text]")) field.value = "";
    form.querySelector(".rt-late")?.remove();
  }
}

// Before anybody else: the front end would take Ctrl-Enter as "run this cell".
function onKey(event) {
  if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
  const found = formOf(event.target);
  // Enter alone sends the one line of a discussion's form.
  const line = found?.form.classList.contains("rt-form-talk") && event.target.matches("input[type=text]");
  if (!found || !(event.ctrlKey || event.metaKey || line)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!event.repeat && !event.isComposing) submit(found, "continue");
}

// The control of a form on which the pointer was pressed, and where that was.
let pressed = null;

function onPress(event) {
  const control = event.target instanceof Element ? event.target.closest(".rt-form :is(.rt-button, label, input)") : null;
  pressed = control && { control, x: event.clientX, y: event.clientY };
}

// A reply that comes in, or into sight and so takes its height, can move a control away between press
// and release. The click is then nobody's: it belongs to what was pressed, unless the pointer was
// drawn off it.
function clickPressed(click) {
  const held = pressed;
  pressed = null;
  if (!held?.control.isConnected || held.control.contains(click.target)) return;
  if (Math.hypot(click.clientX - held.x, click.clientY - held.y) < HELD_PX) held.control.click();
}

function onClick(event) {
  clickPressed(event);
  const button = event.target instanceof Element ? event.target.closest(".rt-button") : null;
  const found = button && formOf(button);
  if (!found) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const action = [...button.classList].find((part) => part.startsWith("rt-button--"))?.slice("rt-button--".length);
  if (!button.disabled) submit(found, action);
}

// Drafts reach the kernel shortly after a pause in typing, so that they survive a reload.
const drafts = new WeakMap();

function onInput(event) {
  if (!formOf(event.target) || !event.target.matches("textarea, input[type=text]")) return;
  clearTimeout(drafts.get(event.target));
  drafts.set(event.target, setTimeout(() => {
    if (event.target.isConnected) event.target.dispatchEvent(new Event("change", { bubbles: true }));
  }, DRAFT_MS));
}

function tick() {
  for (const store of shared.stores.values()) for (const view of store.views) view.tick();
  for (const node of document.querySelectorAll("[data-rt-closes]")) {
    const left = Number(node.dataset.rtCloses) - kernelNow();
    retext(node, left > 0 ? `${clock(left + 999)} left` : "time is up");
    node.classList.toggle("rt-soon", left < 10000);
  }
}

function install() {
  if (shared.installed) return;
  shared.installed = true;
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("pointerdown", onPress, true);
  window.addEventListener("click", onClick, true);
  window.addEventListener("input", onInput, true);
  setInterval(tick, 500);
  const title = document.querySelector("title");
  // The front end sets its own title whenever tabs change.
  if (title) new MutationObserver(showMark).observe(title, { childList: true });
}

function initialize({ model }) {
  install();
  return openStore(model);
}

function render({ model, el }) {
  const store = shared.stores.get(model.get("uid"));
  if (!store) return undefined;
  const view = new View(el, model.get("uid"));
  view.drawAll(store.messages);
  store.views.add(view);
  store.send({ type: "ready", n: 0 });
  tick();
  return () => {
    store.views.delete(view);
    view.sizes.disconnect();
    if (!store.views.size) view.remove();
  };
}

export default { initialize, render };
