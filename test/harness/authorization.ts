/** The Authorization header with the token from the variable HOLDFAST_TOKEN, for scripts against a
 * server that needs one; empty without it. */
export function authorization(): Record<string, string> {
  const token = process.env["HOLDFAST_TOKEN"];
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
