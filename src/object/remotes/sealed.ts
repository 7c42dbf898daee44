// Encrypts the credentials that a repository stores with a key that only the deployment has, so
// that a copy of the database reveals none.
import { GitError } from "../../base/format/errors.ts";

/** Minimum length of the deployment's secret, in characters. */
const MIN_SECRET = 32;

const IV_BYTES = 12;

/** Encrypts a text by AES-256-GCM.
 * @param secret the deployment's variable `SECRETS_KEY`; null: not set
 * @param place where it is stored; it cannot be decrypted for another place
 * @returns nonce, then ciphertext
 * @throws GitError "unsupported" without a secret of 32 characters or more */
export async function seal(secret: string | null, place: string, text: string): Promise<Uint8Array> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await crypto.subtle.encrypt(parameters(iv, place), await deriveKey(secret), Buffer.from(text));
  return Buffer.concat([iv, new Uint8Array(sealed)]);
}

/** Decrypts the output of `seal`.
 * @throws GitError "unsupported" without the secret, "invalid" when it was encrypted with another
 * one */
export async function unseal(secret: string | null, place: string, sealed: Uint8Array): Promise<string> {
  const key = await deriveKey(secret);
  const iv = sealed.slice(0, IV_BYTES);
  try {
    const text = await crypto.subtle.decrypt(parameters(iv, place), key, sealed.slice(IV_BYTES));
    return Buffer.from(text).toString();
  } catch (cause) {
    const reason = "it was stored with another SECRETS_KEY than the deployment has now; send it again";
    throw new GitError("invalid", { what: "credential", reason }, { cause });
  }
}

async function deriveKey(secret: string | null): Promise<CryptoKey> {
  if (secret === null || secret.length < MIN_SECRET) {
    const reason = `the deployment needs the secret SECRETS_KEY, of ${MIN_SECRET} characters or more, see docs/operations.md`;
    throw new GitError("unsupported", { what: "a credential for another host", reason });
  }
  const material = await crypto.subtle.importKey("raw", Buffer.from(secret), "HKDF", false, ["deriveKey"]);
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: Buffer.from("holdfast imports") };
  return crypto.subtle.deriveKey(derivation, material, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

function parameters(iv: Uint8Array, place: string) {
  return { name: "AES-GCM", iv, additionalData: Buffer.from(place) } as const;
}
