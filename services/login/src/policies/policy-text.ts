import { isUtf8 } from 'node:buffer';
import { invalid } from '@secrets/domain';

const base64 = /^[A-Za-z0-9+/\r\n]+={0,2}[\r\n]*$/;

/**
 * The text of a policy, which may be given in base64, as Vault and OpenBao accept it
 * (https://developer.hashicorp.com/vault/api-docs/system/policy#create-update-policy). A policy that is not empty
 * contains a blank, a quote or a bracket, so neither form is taken for the other. Throws `invalid` if it is base64 of
 * anything but text.
 */
export function policyText(given: string): string {
  if (!base64.test(given) || given.replace(/[\r\n]/g, '').length % 4 !== 0) return given;
  const bytes = Buffer.from(given, 'base64');
  if (!isUtf8(bytes)) throw invalid('policy: is base64, but not of a text');
  return bytes.toString();
}
