/** Calls `stop` when the terminal is closed, which sends SIGHUP. The process then ends by this signal. */
export function onHangUp(stop: () => void): void {
  process.on('SIGHUP', () => {
    stop();
    process.once('exit', endBySignal);
  });
}

/** Ends the process as SIGHUP does. Node.js itself would try to restore the settings of a closed terminal, fail, and abort. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
