// Requests of several clients, each of which sends its next request when it receives a response.
let latestId = 0;

/** A number that no other request of this process has. */
export function nextId() {
  latestId += 1;
  return latestId;
}

/** The rate in requests per second. */
export async function requestRate(ask, requests, clients) {
  let left = requests;
  const startedAt = performance.now();
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (requests / (performance.now() - startedAt)) * 1000;
}
