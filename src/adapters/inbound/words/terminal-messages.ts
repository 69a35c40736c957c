/** Why a command does not do what it should. */
export const TERMINAL = {
  noServers: 'No servers are configured (servers in the YAML file, or --servers=<path>).\n',
  notAnObject: `The input must be a JSON object, such as '{"message": "hello"}'.`,
  unreadableFile: (file: string, reason: string) => `The file ${file} cannot be read (${reason}).`,
};
