/**
 * Addresses and networks: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`.
 */
import { bad, good, type Parse, show } from './parse.ts';

export function parseNetwork(text: string): Parse<string> {
  const at = text.indexOf('/');
  const [address, bits] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  const version = process.getBuiltinModule('node:net').isIP(address);
  if (version === 0 || address.includes('%')) {
    return bad(`${show(text)} is neither an address nor a network; write one such as 10.1.2.3 or 10.0.0.0/8`);
  }
  if (bits === undefined) return good(text);
  const most = version === 4 ? 32 : 128;
  if (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= most) return good(`${address}/${Number(bits)}`);
  return bad(`${show(text)}: a network of IPv${version} has 0 to ${most} bits; write ${address}/${most / 2}`);
}
