/** What shows the server who asks: the token of whoever runs a script against a server that wants one, from the variable
 * HOLDFAST_TOKEN; nothing without it. */
export function authorization(): Record<string, string> {
  const token = process.env["HOLDFAST_TOKEN"];
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
