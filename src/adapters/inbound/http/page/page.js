// The page of the HTTP server. What servers and answers contain becomes text nodes and checked attributes, never HTML.

const REFRESH_MS = 5000;
const REFRESH_STARTING_MS = 1000;
/** Longer texts are cut until the reader asks for the rest, because they make the browser slow. */
const SHOWN_CHARACTERS = 50_000;
const IMAGE_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;
const AUDIO_TYPES = /^audio\/(?:(?:x-)?wav|mpeg|mp3|mp4|ogg|webm|aac|flac)$/i;

const byId = (id) => document.getElementById(id);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === 'string' && value !== '';
const pretty = (value) => JSON.stringify(value, null, 2);
const seconds = (ms) => `${(ms / 1000).toFixed(ms < 9950 ? 2 : 1)} s`;

/** An element (`tag.class`) with properties of this file only. Strings among the children become text nodes. */
function el(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = Object.assign(document.createElement(tag), properties);
  element.classList.add(...classes);
  element.append(...children.flat().filter((child) => child !== undefined && child !== ''));
  return element;
}

/** A value from elsewhere as text, isolated from the text around it. */
function foreign(value, name = 'span') {
  return el(`${name}.foreign`, {}, typeof value === 'string' ? value : (pretty(value) ?? ''));
}

/** A URL without user info, which is a secret, or makes the address look like that of another host. */
const withoutUser = (url) => (isText(url) ? url.replace(/^([a-z][a-z\d+.-]*:[\\/]*)[^/?#\\]*@/i, '$1') : url);

/** A link to a web page; text if the URL is anything else. */
function link(url, text = withoutUser(url)) {
  const href = withoutUser(url);
  if (!isText(href) || !/^https?:\/\//i.test(href) || !URL.canParse(href)) return foreign(text);
  return el('a.foreign', { href, target: '_blank', rel: 'noopener noreferrer' }, text);
}

/** For screen readers. */
function announce(text) {
  byId('announcer').textContent = text;
}

// Requests

/** Kept in memory only. */
let token;
/** The dialog was closed without a token: only what a person does opens it again. */
let isTokenRefused = false;
let tokenQuestion;

const NO_TOKEN = new Error('The server asks for a token.');

function send(path, options, withToken) {
  const headers = { ...options.headers, ...(withToken ? { Authorization: `Bearer ${withToken}` } : {}) };
  // Relative, so that the page also works below a path of a proxy.
  return fetch(new URL(`.${path}`, document.baseURI), { ...options, headers });
}

/** Sends a request, and asks for the token if the server does. */
async function request(path, options = {}) {
  for (;;) {
    const sent = token;
    const response = await send(path, options, sent);
    if (response.status !== 401) return response;
    if (token !== sent) continue;
    if (isTokenRefused) throw NO_TOKEN;
    await askForToken(sent === undefined ? '' : 'The server does not accept this token any more.');
  }
}

/** Resolves when the server has accepted a token. */
function askForToken(problem) {
  tokenQuestion ??= new Promise((resolve, reject) => {
    const dialog = byId('token-dialog');
    const field = byId('token');
    const showProblem = (text) => {
      byId('token-problem').textContent = text;
    };
    let isAccepted = false;
    byId('change-token').hidden = false;
    showProblem(problem);
    dialog.showModal();
    byId('token-form').onsubmit = async (event) => {
      event.preventDefault();
      const entered = field.value.trim();
      try {
        // Others cannot be sent in a header.
        const isToken = /^[\x21-\x7e]+$/.test(entered);
        isAccepted = isToken && (await send('/mcp/servers', {}, entered)).status !== 401;
        showProblem(isAccepted ? '' : 'The server does not accept this token.');
      } catch (error) {
        showProblem(`The server cannot be reached: ${error.message}`);
      }
      if (!isAccepted) return field.select();
      token = entered;
      resolve();
      dialog.close();
    };
    byId('token-cancel').onclick = () => dialog.close();
    dialog.onclose = () => {
      tokenQuestion = undefined;
      field.value = '';
      isTokenRefused = !isAccepted;
      reject(NO_TOKEN);
    };
  });
  return tokenQuestion;
}

/** The body as JSON; undefined if it is something else, for instance the page of a proxy. */
const jsonOf = (response) => response.json().catch(() => undefined);

/** Runs one call at a time, with its time and a cancel button. `work` returns the nodes to show. */
function callRunner({ box, submit, cancel, time, result }) {
  let controller;
  cancel.onclick = () => controller?.abort();
  return async (work) => {
    if (controller !== undefined) return;
    isTokenRefused = false;
    controller = new AbortController();
    const { signal } = controller;
    const startedMs = performance.now();
    const elapsed = () => seconds(performance.now() - startedMs);
    const timer = setInterval(() => {
      time.textContent = elapsed();
    }, 100);
    box.classList.add('running');
    // A disabled button would lose the focus.
    submit.ariaDisabled = 'true';
    cancel.hidden = false;
    result.replaceChildren();
    try {
      result.replaceChildren(...(await work(signal, elapsed)));
    } catch (error) {
      const reason = error === NO_TOKEN ? error.message : `The call failed: ${error.message}`;
      const text = signal.aborted ? `Cancelled after ${elapsed()}.` : reason;
      result.replaceChildren(el(signal.aborted ? 'p.muted' : 'p.failure', {}, text));
    }
    clearInterval(timer);
    time.textContent = '';
    box.classList.remove('running');
    submit.ariaDisabled = 'false';
    if (document.activeElement === cancel) submit.focus();
    cancel.hidden = true;
    controller = undefined;
  };
}

function post(path, body, signal) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

// The question

/** The JSON-RPC messages of a response: those of an event stream as they arrive, or the only one. */
async function* messagesOf(response) {
  if (!/^text\/event-stream/i.test(response.headers.get('Content-Type') ?? '')) {
    yield (await jsonOf(response)) ?? { error: { message: `HTTP ${response.status}` } };
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const events = (unread + read.value).split(/\r?\n\r?\n/);
    unread = events.pop();
    for (const event of events) {
      const [, data] = /^data:(.*)$/m.exec(event) ?? [];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
  throw new Error('the connection ended before the answer.');
}

/** Replaces the last line if only its numbers are different. */
function showProgress(list, text) {
  const kindOf = (text) => text?.replace(/ · \d+ s$/, '').replace(/\d+/g, '0');
  list.hidden = false;
  if (kindOf(list.lastChild?.textContent) === kindOf(text)) list.lastChild.textContent = text;
  else {
    list.append(foreign(text, 'li'));
    announce(text);
  }
  list.scrollTop = list.scrollHeight;
}

const INLINE =
  /`([^`\n]+)`|\*\*(\S(?:[^*\n]*\S)?)\*\*|\[([^\][\n]+)\]\((https?:\/\/(?:[^\s()]|\([^\s()]*\))+)\)|https?:\/\/(?:[^\s<>"'()[\]]|\([^\s()]*\))*(?:[\w/#=&-]|\([^\s()]*\))/g;

/** The parts of a line with code, bold words and links. The text of a link is the host to which it leads, or the URL. */
function inlineParts(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, code, bold, label, url] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + all.length;
    const isHost = url !== undefined && URL.canParse(url) && new URL(url).host.replace(/^www\./, '') === label;
    if (code !== undefined) parts.push(el('code', {}, code));
    else if (bold !== undefined) parts.push(el('strong', {}, bold));
    else if (isHost) parts.push(link(url, label));
    else if (url !== undefined) parts.push(`${label} (`, link(url), ')');
    else parts.push(link(all));
  }
  return [...parts, text.slice(end)];
}

/** The Markdown that answers contain: blocks of code, headings, lists, paragraphs, and what `inlineParts` knows. */
function answerText(text) {
  const parts = text.split(/^ *```.*\n([\s\S]*?)\n *```[ \t]*$/m);
  return el(
    'div.answer',
    {},
    parts.flatMap((part, index) => (index % 2 === 1 ? el('pre', { tabIndex: 0 }, part) : proseBlocks(part))),
  );
}

function proseBlocks(text) {
  const blocks = [];
  /** What the next line continues. */
  let open;
  for (const line of text.split('\n')) {
    const [, heading] = /^#{1,6} +(.+)$/.exec(line) ?? [];
    const [, indent, mark, item] = /^( *)([-*+]|\d{1,9}[.)]) +(.+)$/.exec(line) ?? [];
    if (heading !== undefined) {
      blocks.push(el('h3', {}, inlineParts(heading)));
      open = undefined;
    } else if (item !== undefined) {
      const tag = /\d/.test(mark) ? 'ol' : 'ul';
      const last = blocks.at(-1);
      const isNested = indent.length > 1 && /^[ou]l$/.test(last?.localName);
      const siblings = isNested ? [...last.lastChild.children] : blocks;
      let list = siblings.at(-1);
      if (list?.localName !== tag) {
        list = el(tag, tag === 'ol' ? { start: Number.parseInt(mark, 10) } : {});
        if (isNested) last.lastChild.append(list);
        else blocks.push(list);
      }
      open = el('li', {}, inlineParts(item));
      list.append(open);
    } else if (line.trim() === '') open = undefined;
    else if (open === undefined) {
      open = el('p', {}, inlineParts(line));
      blocks.push(open);
    } else open.append('\n', ...inlineParts(line));
  }
  return blocks;
}

/** The text without the list of sources at its end, if the citations contain all of them. */
function withoutSources(text, citations) {
  const [, body, list = ''] = /^(.*)\n\nSources:\n((?:- .*\n?)+)$/s.exec(text) ?? [];
  const lines = list.trim().split('\n');
  return body !== undefined && lines.every((line) => citations.some(({ url }) => line.includes(url))) ? body : text;
}

/** The line of an unfinished answer that is the query for the rest. */
const HANDLE = /^la1\.[adq]\.[\w-]{1,90}\.[\w-]{22}$/m;

/** The end of a line of sources whose page does not exist, in both languages. */
const MARK = / \[(?:not found|見つかりません): (?:(HTTP \d+)|.{1,20})\]$/;

/** Whether a line of sources names a page, and not one whose URL only begins in the same way. */
function namesPage(line, url) {
  const page = (text) => text.replace(/#.*/, '').replace(/\/$/, '');
  const parts = [...line.split(/\s/), ...line.split(/[\s()<>]+/)];
  return parts.some((part) => page(part) === page(url));
}

/** What was found about a cited page. */
function findingsIn(mark, { missing = [], unrelated } = {}) {
  return [
    ...(mark === null ? [] : [`not found: ${mark[1] ?? 'no such host'}`]),
    ...(missing.length === 0 ? [] : [`${missing.map((figure) => `"${figure}"`).join(', ')} not on the page`]),
    ...(unrelated ? ['no similar passage on the page'] : []),
  ];
}

function showAnswer({ answer, citations, used_search: usedSearch, model }, time, askAgain) {
  const [handle] = (!usedSearch && HANDLE.exec(answer)) || [];
  if (handle !== undefined) {
    const again = el('button', { type: 'button', onclick: () => askAgain(handle) }, 'Ask again');
    return [el('p.hint', {}, `Not finished after ${time}`), answerText(answer), again];
  }
  const how = usedSearch ? 'with web search' : 'without web search';
  const lines = answer.slice(answer.lastIndexOf('\nSources:\n')).split('\n');
  const sources = citations.map(({ url, title, published_at: day, evidence }) => {
    const host = title !== undefined && URL.canParse(url) ? `${new URL(url).host}, ` : '';
    const mark = MARK.exec(lines.find((line) => MARK.test(line) && namesPage(line, url)) ?? '');
    const findings = findingsIn(mark, evidence).map((text) => el('div.hint', {}, text));
    const { quote } = evidence ?? {};
    const details =
      quote === undefined ? [] : [el('details', {}, el('summary', {}, 'Similar passage'), foreign(quote, 'p'))];
    return el('li', {}, link(url, title), el('span.muted', {}, ` (${host}${day})`), ...findings, ...details);
  });
  return [
    el('p.hint', {}, `Answered in ${time}, ${how}, by ${model}`),
    answerText(withoutSources(answer, citations)),
    ...(sources.length === 0 ? [] : [el('h3', {}, 'Sources'), el('ol.sources', {}, sources)]),
  ];
}

function startAsking() {
  const [box, result, progress] = ['ask', 'ask-result', 'ask-progress'].map(byId);
  const path = document.querySelector('meta[name="mcp-path"]').content;
  const [submit, cancel, time] = ['ask-submit', 'ask-cancel', 'ask-time'].map(byId);
  const run = callRunner({ box, submit, cancel, time, result });

  const ask = async (query, name, signal, elapsed) => {
    progress.replaceChildren();
    progress.hidden = true;
    const params = { name, arguments: { query }, _meta: { progressToken: 1 } };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const response = await post(path, call, signal);
    for await (const { method, params, result, error } of messagesOf(response)) {
      if (method === 'notifications/progress') showProgress(progress, String(params.message ?? params.progress));
      else if (result?.structuredContent) {
        return showAnswer(result.structuredContent, elapsed(), (handle) => {
          // The button is removed, and would take the focus with it.
          submit.focus();
          void run((...call) => ask(handle, name, ...call));
        });
      } else if (method === undefined) {
        const text = error?.data?.message ?? error?.message ?? result?.content?.[0]?.text;
        return [el('div.failure', {}, `No answer after ${elapsed()}`, foreign(text, 'p'))];
      }
    }
  };
  byId('ask-form').onsubmit = (event) => {
    event.preventDefault();
    void run((...call) => ask(byId('question').value, byId('ask-tool').value, ...call));
  };
  byId('question').onkeydown = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) byId('ask-form').requestSubmit();
  };
}

// Forms

/** A schema without local references, nullable types and lists of constants: it has one type, or `enum`, or neither. */
function simplified(schema, root, depth = 0) {
  if (!isObject(schema) || depth > 8) return {};
  const { $ref, anyOf, oneOf, allOf, ...rest } = schema;
  const merged = (other) => simplified({ ...other, ...rest }, root, depth + 1);
  if (isText($ref)) return merged(targetOf($ref, root));
  const options = (anyOf ?? oneOf ?? allOf)?.filter((option) => option?.type !== 'null');
  if (options?.length === 1) return merged(options[0]);
  if (options?.every((option) => isObject(option) && 'const' in option)) {
    return { ...rest, enum: options.map((option) => option.const), names: options.map(({ title }) => title) };
  }
  const types = [rest.type].flat().filter((type) => type !== 'null');
  const type = options === undefined && types.length === 1 ? types[0] : undefined;
  return { ...rest, type, ...('const' in rest ? { enum: [rest.const] } : {}) };
}

/** What a JSON pointer in a schema refers to. */
function targetOf(ref, root) {
  let target = ref.startsWith('#') ? root : undefined;
  for (const part of ref.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  return target;
}

/** Names of properties whose text may have several lines. */
const LONG_TEXT = /(?:^|_|-)(?:text|content|body|message|prompt|query|question|code|sql|html|script|description)$/i;

/** A control: `read` returns undefined if it is empty; `write` returns whether it can show the value. */
function control(name, schema, required) {
  const { type, default: preset } = schema;
  if (Array.isArray(schema.enum)) return choice(schema, required);
  if (type === 'boolean') {
    if (!required && preset === undefined) return choice({ enum: [true, false] }, required);
    const node = el('input', { type: 'checkbox' });
    const write = (value = false) => {
      node.checked = value === true;
      return typeof value === 'boolean';
    };
    return { node, read: () => node.checked, write };
  }
  if (type !== 'string' && type !== 'number' && type !== 'integer') {
    return jsonControl(required, { array: '[…]', object: '{…}' }[type] ?? 'JSON');
  }
  const isNumber = type !== 'string';
  const isLong =
    !isNumber &&
    (LONG_TEXT.test(name.replace(/[A-Z]/g, '_$&')) || schema.maxLength > 200 || (isText(preset) && /\n/.test(preset)));
  const node = el(isLong ? 'textarea' : 'input', { required, spellcheck: false, autocomplete: 'off' });
  if (isLong) node.rows = 2;
  else node.type = isNumber ? 'number' : 'text';
  if (isNumber) {
    node.step = type === 'integer' ? '1' : 'any';
    for (const [limit, value] of Object.entries({ min: schema.minimum, max: schema.maximum })) {
      if (typeof value === 'number') node[limit] = value;
    }
  }
  const write = (value) => {
    node.value = ['string', 'number'].includes(typeof value) ? value : '';
    return value === undefined || (isNumber ? Number(node.value) : node.value) === value;
  };
  return { node, read: () => (node.value === '' ? undefined : isNumber ? Number(node.value) : node.value), write };
}

function choice({ enum: values, names = [] }, required) {
  const shown = (value, index) => (isText(names[index]) ? names[index] : isText(value) ? value : JSON.stringify(value));
  const options = values.map((value, index) => el('option', { value: String(index) }, shown(value, index)));
  const node = el('select', { required }, el('option', { value: '' }, required ? 'Choose…' : '(not set)'), options);
  const write = (value) => {
    const index = values.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
    node.value = index === -1 ? '' : String(index);
    return index !== -1 || value === undefined;
  };
  return { node, read: () => (node.value === '' ? undefined : values[node.value]), write };
}

function jsonControl(required, placeholder, isValid = () => true) {
  const node = el('textarea.mono', { rows: 3, required, placeholder, spellcheck: false });
  node.oninput = () => {
    let problem = '';
    try {
      if (node.value !== '' && !isValid(JSON.parse(node.value))) problem = 'This must be a JSON object.';
    } catch (error) {
      problem = `This is not valid JSON: ${error.message}`;
    }
    node.setCustomValidity(problem);
  };
  const write = (value) => {
    node.value = pretty(value) ?? '';
    node.oninput();
    return true;
  };
  return { node, read: () => (node.value === '' ? undefined : JSON.parse(node.value)), write };
}

let fieldCount = 0;

function field(name, schema, isRequired) {
  const { node: input, read, write } = control(name, schema, isRequired);
  fieldCount += 1;
  input.id = `field-${fieldCount}`;
  const label = el('label', { htmlFor: input.id }, foreign(name, 'code'), isRequired ? ' (required)' : '');
  const hint = foreign([schema.title, schema.description].filter(isText).join(': '), 'div');
  hint.id = `${input.id}-hint`;
  hint.classList.add('hint');
  input.setAttribute('aria-describedby', hint.id);
  const node = el('div.field', {}, input.type === 'checkbox' ? [input, label, hint] : [label, hint, input]);
  const preset = schema.default ?? (isRequired ? schema.const : undefined);
  return { name, preset, input, read, write, node };
}

/** The fields for the properties of a schema; undefined if it does not describe its properties, or cannot be read. */
function fieldsOf(inputSchema) {
  try {
    const { properties, required, additionalProperties, type } = simplified(inputSchema, inputSchema);
    if (properties === undefined && (additionalProperties || type !== 'object')) return undefined;
    const isRequired = (name) => Array.isArray(required) && required.includes(name);
    return Object.entries(properties ?? {}).map(([name, property]) =>
      field(name, simplified(property, inputSchema), isRequired(name)),
    );
  } catch {
    return undefined;
  }
}

/** The input of a tool: fields made from its schema, or the same as JSON. */
function inputForm(inputSchema) {
  const found = fieldsOf(inputSchema);
  const fields = found ?? [];
  const json = jsonControl(true, '{}', isObject);
  json.node.ariaLabel = 'Input as JSON';
  const box = el('div', {}, fields.length === 0 ? el('p.muted', {}, 'This tool needs no input.') : []);
  box.append(...fields.map(({ node }) => node));
  const toggle = el('button', { type: 'button', hidden: found === undefined });
  const note = el('p.hint', { role: 'status' });
  /** Members of the JSON that have no field. */
  let others = [];
  let isJson = false;

  const readFields = () => {
    const entries = fields.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined);
    return Object.fromEntries([...entries, ...others]);
  };
  /** Returns the names of the fields that cannot show their value. */
  const writeFields = (input) => {
    others = Object.entries(input).filter(([name]) => !fields.some((field) => field.name === name));
    note.textContent = others.length === 0 ? '' : `Also sent: ${others.map(([name]) => name).join(', ')}`;
    const isShown = ({ name, write }) => write(Object.hasOwn(input, name) ? input[name] : undefined);
    return fields.filter((field) => !isShown(field)).map(({ name }) => name);
  };
  const show = (asJson) => {
    isJson = asJson;
    json.node.hidden = !asJson;
    json.node.disabled = !asJson;
    box.hidden = asJson;
    for (const { input } of fields) input.disabled = asJson;
    toggle.textContent = asJson ? 'Edit as form' : 'Edit as JSON';
  };
  toggle.onclick = () => {
    if (isJson && json.node.reportValidity()) {
      const failed = writeFields(json.read());
      if (failed.length > 0) note.textContent = `The form cannot show the value of ${failed.join(', ')}.`;
      else show(false);
    } else if (!isJson && fields.every(({ input }) => !input.validity.customError || input.reportValidity())) {
      note.textContent = '';
      json.write(readFields());
      show(true);
    }
  };
  for (const { preset, write } of fields) write(preset);
  json.write({});
  show(found === undefined);
  return { nodes: [box, json.node, note], toggle, read: () => (isJson ? json.read() : readFields()) };
}

// Results

/** Text with its JSON pretty-printed, cut if it is long. */
function textBlock(text) {
  let shown = text;
  try {
    if (/^\s*[[{]/.test(text)) shown = pretty(JSON.parse(text));
  } catch {
    // It only begins like JSON.
  }
  const block = el('pre', { tabIndex: 0 }, shown.slice(0, SHOWN_CHARACTERS));
  if (shown.length <= SHOWN_CHARACTERS) return block;
  const more = el('button', { type: 'button' }, `Show all ${shown.length} characters`);
  more.onclick = () => {
    block.textContent = shown;
    block.focus();
    more.remove();
  };
  return el('div', {}, block, more);
}

/** An image or a sound as data; undefined if it is of another type, or not base64. */
function media(mimeType, data, about) {
  if (![mimeType, data].every(isText) || !/^[A-Za-z0-9+/\s]+=*\s*$/.test(data)) return undefined;
  const src = `data:${mimeType};base64,${data}`;
  if (AUDIO_TYPES.test(mimeType)) return el('audio', { src, controls: true, ariaLabel: about });
  if (!IMAGE_TYPES.test(mimeType)) return undefined;
  const image = el('img', { src, alt: `${about} (${mimeType})` });
  image.onerror = () => image.replaceWith(el('p.bad', {}, 'The image cannot be shown.'));
  return image;
}

/** A block of a result (MCP, ContentBlock). */
function contentBlock(block, tool) {
  const { type, text, data, mimeType, uri, name, title, description, resource } = block;
  const about = `Result of ${tool}`;
  if (type === 'text' && isText(text)) return textBlock(text);
  if (type === 'resource_link' && isText(uri)) {
    const label = [title, name, uri].find(isText);
    const details = [label === uri ? '' : withoutUser(uri), mimeType, description].filter(isText).join(' · ');
    return el('p', {}, link(uri, label === uri ? undefined : label), ' ', el('span.hint', {}, foreign(details)));
  }
  if (type === 'resource' && isObject(resource)) {
    const shown = isText(resource.text) ? textBlock(resource.text) : media(resource.mimeType, resource.blob, about);
    if (shown) return el('div', {}, el('p.hint', {}, 'Resource ', link(resource.uri)), shown);
  }
  const shown = type === 'image' || type === 'audio' ? media(mimeType, data, about) : undefined;
  return shown ?? textBlock(pretty(block));
}

function showResult(response, body, tool, time) {
  const { success, result, content = [], structuredContent, error = {} } = isObject(body) ? body : {};
  const { requestId = response.headers.get('X-Request-Id'), ...details } = error.details ?? {};
  const facts = [time, `HTTP ${response.status}`, requestId ? `request ${requestId}` : ''];
  const status = success ? el('strong.good', {}, 'Success') : el('strong.bad', {}, 'Error');
  const heading = el('p.facts', {}, status, ...facts.map((fact) => el('span', {}, fact)));
  const json = (value) => (value === undefined ? [] : [textBlock(typeof value === 'string' ? value : pretty(value))]);
  const blocks = (content) => content.map((block) => contentBlock(block, tool));
  // Without a plain value, the content is everything.
  if (success) return [heading, ...json(content.length > 0 ? (result ?? undefined) : result), ...blocks(content)];
  const code = el('strong', {}, error.code ?? 'This is not a response of this server.');
  const data = json(Object.keys(details).length === 0 ? undefined : details);
  const failure = el('div.failure', {}, code, json(error.message), data);
  // The message consists of the text blocks.
  return [heading, failure, ...json(structuredContent), ...blocks(content.filter(({ type }) => type !== 'text'))];
}

// The selected tool

/** By server and name: a panel keeps what was entered, and the result. */
const panels = new Map();
let selectedKey = '';

const keyOf = ({ server, name }) => `${encodeURIComponent(server)}/${encodeURIComponent(name)}`;

/** What the server says about the effects of a tool. It need not be true. */
function effectsOf({ readOnlyHint, destructiveHint } = {}) {
  if (readOnlyHint === true) return el('span.badge.good', {}, 'read-only, says the server');
  if (destructiveHint === true) return el('span.badge.bad', {}, 'destructive, says the server');
  return undefined;
}

function toolPanel(tool) {
  const { server, name, title = name, description, inputSchema, outputSchema, annotations, timeout } = tool;
  const form = inputForm(inputSchema);
  const submit = el('button.primary', { type: 'submit' }, 'Call');
  const cancel = el('button', { type: 'button', hidden: true }, 'Cancel');
  const time = el('span.muted', { role: 'timer' });
  const result = el('div.result', { ariaLive: 'polite' });
  const heading = el('h2', { tabIndex: -1 }, foreign(title));
  const box = el('form', {}, form.nodes, el('div.row', {}, submit, cancel, form.toggle, time));
  const node = el(
    'div',
    {},
    heading,
    el('a.back', { href: '#servers' }, 'All tools'),
    el('p.facts', {}, foreign(`${server} / ${name}`, 'code'), effectsOf(annotations), `time limit ${timeout / 1000} s`),
    foreign(description, 'p'),
    box,
    result,
    el('details', {}, el('summary', {}, 'Schema'), textBlock(pretty({ inputSchema, outputSchema }))),
  );
  const run = callRunner({ box: node, submit, cancel, time, result });
  box.onsubmit = (event) => {
    event.preventDefault();
    const call = { server, toolName: name, input: form.read() };
    void run(async (signal, elapsed) => {
      const response = await post('/mcp/call', call, signal);
      // The server may have died.
      if (!response.ok) void loaders[0]();
      return showResult(response, await jsonOf(response), name, elapsed());
    });
  };
  return { node, heading, json: JSON.stringify(tool) };
}

/** Shows a tool. Its panel is made again if the server has changed the tool. */
function select(tool, isChosen) {
  const key = keyOf(tool);
  if (panels.get(key)?.json !== JSON.stringify(tool)) panels.set(key, toolPanel(tool));
  const { node, heading } = panels.get(key);
  selectedKey = key;
  if (!node.isConnected) byId('tool').replaceChildren(node);
  for (const button of document.querySelectorAll('.tools button')) button.ariaCurrent = button.dataset.key === key;
  if (!isChosen) return;
  history.replaceState(null, '', `#${key}`);
  byId('tool').scrollTop = 0;
  heading.focus();
}

// Servers and their tools

/** Undefined until they are known. */
let servers;
let tools = [];
let toolsTag = '';
let shownJson = '';
/** The servers whose list of tools is closed. */
const closed = new Set();

const BUILT_IN = { name: 'openai-responses-mcp' };

function toolItem(tool) {
  const about = [tool.title, tool.description].filter(isText).join(': ');
  const button = el('button', { type: 'button' }, foreign(tool.name, 'code'), el('span.about.hint', {}, about));
  button.dataset.key = keyOf(tool);
  button.onclick = () => select(tool, true);
  return el('li', {}, button);
}

function toolList(name, query) {
  const own = tools.filter((tool) => tool.server === name);
  const found = own.filter((tool) => `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(query));
  const count = query === '' ? own.length : `${found.length} of ${own.length}`;
  const summary = el('summary', {}, `${count} ${own.length === 1 ? 'tool' : 'tools'}`);
  summary.dataset.key = `tools ${name}`;
  const details = el('details', { open: query !== '' || !closed.has(name) }, summary);
  summary.onclick = () => (details.open ? closed.add(name) : closed.delete(name));
  details.append(el('ul.tools', {}, found.map(toolItem)));
  return own.length === 0 ? undefined : details;
}

function serverCard(server, query) {
  const { name, state, transport, restarts, pid, lastError, login, serverInfo = {}, since: iso } = server;
  const restart = el('button', { type: 'button', ariaLabel: `Restart ${name}` }, 'Restart');
  restart.dataset.key = `restart ${name}`;
  restart.onclick = async () => {
    announce(`Restarting ${name}`);
    // If there is no response, the next refresh shows why.
    const response = await post(`/mcp/servers/${encodeURIComponent(name)}/restart`, {}).catch(() => {});
    const { error } = (response && (await jsonOf(response))) ?? {};
    if (error !== undefined) card.append(el('p.hint.bad', { role: 'alert' }, foreign(error.message)));
    refresh();
  };
  const since = () => el('time', { dateTime: iso }, new Date(iso).toLocaleString());
  const problem =
    state === 'available'
      ? el('p.hint', {}, 'Last error, before ', since(), ': ', foreign(lastError))
      : el('p.hint.bad', {}, 'Last error: ', foreign(lastError));
  const shownState = el(`span.state.${state}`, {}, state ?? '');
  const version = [serverInfo.title ?? serverInfo.name, serverInfo.version].filter(isText).join(' ');
  const facts = [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`, transport, pid && `pid ${pid}`, version];
  const about =
    server === BUILT_IN
      ? 'built in: the answer tools'
      : [el('span', {}, 'since ', since()), ...facts.filter(isText).map((fact) => foreign(fact))];
  const card = el(
    'article.card.server',
    { ariaLabel: name },
    el('div.row', {}, el('h3', {}, foreign(name)), server === BUILT_IN ? [] : [shownState, restart]),
    el('div.facts', {}, about),
    lastError === undefined ? '' : problem,
    login === undefined ? '' : el('p', {}, "Sign in on the gateway's machine: ", foreign(login, 'code')),
    toolList(name, query),
  );
  return card;
}

/** Offers the answer tools that the caller may use, once they are known. Returns whether there are any. */
function offerAnswerTools() {
  const select = byId('ask-tool');
  const isOffered = ({ value }) =>
    toolsTag === '' || tools.some(({ server, name }) => server === BUILT_IN.name && name === value);
  for (const option of select.options) option.disabled = option.hidden = !isOffered(option);
  const first = [...select.options].find(isOffered);
  if (first !== undefined && select.selectedOptions[0]?.disabled) select.value = first.value;
  byId('ask').hidden = first === undefined;
  return first !== undefined;
}

/** Shows servers and tools again if something has changed, with the focus where it was. */
function showServers() {
  if (servers === undefined) return;
  const query = byId('filter').value.trim().toLowerCase();
  const json = JSON.stringify([servers, tools, toolsTag, query]);
  if (json === shownJson) return;
  shownJson = json;
  const available = servers.filter(({ state }) => state === 'available').length;
  const own = tools.filter(({ server }) => server !== BUILT_IN.name).length;
  byId('summary').textContent = `${available} of ${servers.length} servers available, ${own} tools`;
  byId('servers-note').hidden = servers.length > 0;
  const focused = document.activeElement?.dataset.key;
  // What does not work on its own again comes first.
  const failed = servers.filter(({ state }) => state === 'failed' || state === 'login_required');
  const ordered = [...failed, ...servers.filter((server) => !failed.includes(server))];
  if (offerAnswerTools()) ordered.push(BUILT_IN);
  byId('server-list').replaceChildren(...ordered.map((server) => serverCard(server, query)));
  if (focused !== undefined) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  const wanted = selectedKey === '' ? location.hash.slice(1) : selectedKey;
  const tool = tools.find((tool) => keyOf(tool) === wanted);
  if (tool !== undefined) select(tool, false);
}

function showTrouble(text) {
  const trouble = byId('trouble');
  trouble.hidden = text === '';
  if (trouble.textContent !== text) trouble.textContent = text;
}

async function load(path, headers = {}) {
  const response = await request(path, { headers, cache: 'no-store' });
  if (response.status === 304) return {};
  const body = await jsonOf(response);
  if (!response.ok || body === undefined) throw new Error(body?.error?.message ?? `HTTP ${response.status}`);
  return { ...body, tag: response.headers.get('ETag') };
}

async function loadServers() {
  const known = servers?.map(({ state }) => state).join();
  const loaded = await load('/mcp/servers');
  servers = loaded.servers ?? servers;
  byId('no-key').hidden = loaded.canAnswer !== false;
  if (known !== servers.map(({ state }) => state).join()) void loaders[1]();
}

async function loadTools() {
  const loaded = await load('/mcp/tools', { 'If-None-Match': toolsTag });
  tools = loaded.tools ?? tools;
  toolsTag = loaded.tag ?? toolsTag;
}

/** Loads now, and again every few seconds while the page is visible. Returns a function that loads at once. */
function keepLoading(loadNow) {
  let timer;
  let isLoading = false;
  let isStale = false;
  const run = async () => {
    clearTimeout(timer);
    isStale = isLoading;
    if (isLoading) return;
    isLoading = true;
    let trouble = '';
    try {
      await loadNow();
    } catch (error) {
      // fetch throws a TypeError if there is no response.
      trouble = error instanceof TypeError ? `The server cannot be reached: ${error.message}` : error.message;
    }
    isLoading = false;
    const isStarting = servers?.some(({ state }) => state === 'starting');
    const delayMs = isStale ? 0 : isStarting ? REFRESH_STARTING_MS : REFRESH_MS;
    if (!document.hidden) timer = setTimeout(run, delayMs);
    showTrouble(trouble);
    showServers();
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void run()));
  void run();
  return run;
}

startAsking();
const loaders = [keepLoading(loadServers), keepLoading(loadTools)];
function refresh() {
  isTokenRefused = false;
  for (const run of loaders) void run();
}
byId('refresh').onclick = refresh;
byId('change-token').onclick = () => askForToken('').then(refresh, () => {});
byId('filter').oninput = showServers;
