import { createHash } from 'node:crypto';

/**
 * The text of build/index.js. It checks the version of Node.js, in syntax that old versions can parse, and runs main.js
 * from the code that an earlier stdio server compiled: this saves an eighth of the start. That code is a file beside
 * main.js, for one text of it and one version of Node.js, because V8 checks neither. It is complete and on the disk before
 * it has its name; without it, as in a folder that cannot be written, everything is compiled again.
 */
export function entryPoint(version, mainScript) {
  const hash = createHash('sha256').update(mainScript).digest('hex').slice(0, 16);
  return `#!/usr/bin/env node
var node = process.versions.node;
if (parseInt(node, 10) >= 20) start();
else {
  console.error('openai-responses-mcp ${version} needs Node.js 20 or later; this is ' + node + '. Install a newer version.');
  process.exitCode = 1;
}

function start() {
  var fs = require('fs');
  var Module = require('module');
  var Script = require('vm').Script;
  var compile = Module.prototype._compile;
  var cache = __dirname + '/main.js.${hash}-' + node + '-' + process.arch + '.cache';
  var compiled;
  var script;
  try {
    compiled = fs.readFileSync(cache);
  } catch (error) {}
  Module.prototype._compile = function (text, file) {
    Module.prototype._compile = compile;
    script = new Script(Module.wrap(text), { filename: file, cachedData: compiled });
    if (process.argv[2] === '--stdio' && script.cachedDataRejected !== false) process.on('exit', save);
    script.runInThisContext()(this.exports, this.require.bind(this), this, file, __dirname);
  };
  require('./main.js');
  Module.prototype._compile = compile;

  function save() {
    var temporary = cache + '.' + process.pid;
    try {
      fs.writeFileSync(temporary, script.createCachedData(), { flush: true });
      fs.renameSync(temporary, cache);
    } catch (error) {}
  }
}
`;
}
