/**
 * The text of build/index.js. It checks the version of Node.js, in syntax that old versions can parse, and runs main.js
 * from the code that an earlier stdio server compiled: this saves an eighth of the start. That code is in a file beside
 * main.js, after the text of main.js, and twice, since V8 compares neither: code of another text, or damaged code, would
 * run or end the process. Without that file, as in a folder that cannot be written, everything is compiled again.
 */
export const entryPoint = (version) => `#!/usr/bin/env node
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
  var cache = __dirname + '/main.js.' + node + '-' + process.arch + '.cache';
  Module.prototype._compile = function (text, file) {
    Module.prototype._compile = compile;
    var source = Buffer.from(text);
    var code = read(source);
    var script = new Script(Module.wrap(text), { filename: file, cachedData: code });
    if (process.argv[2] === '--stdio' && script.cachedDataRejected !== false) process.on('exit', save);
    script.runInThisContext()(this.exports, this.require.bind(this), this, file, __dirname);

    function save() {
      var temporary = cache + '.' + process.pid;
      try {
        var compiled = script.createCachedData();
        fs.writeFileSync(temporary, Buffer.concat([source, compiled, compiled]));
        fs.renameSync(temporary, cache);
      } catch (error) {
        try {
          fs.unlinkSync(temporary);
        } catch (error) {}
      }
    }
  };
  require('./main.js');
  Module.prototype._compile = compile;

  function read(source) {
    try {
      var saved = fs.readFileSync(cache);
    } catch (error) {
      return undefined;
    }
    var copies = saved.subarray(source.length);
    var code = copies.subarray(0, copies.length / 2);
    var isWhole = code.length > 0 && copies.subarray(code.length).equals(code);
    return isWhole && saved.subarray(0, source.length).equals(source) ? code : undefined;
  }
}
`;
