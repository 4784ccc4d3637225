import { invalid, StorePosition } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing, SealError } from '@secrets/seal';

/** The position before everything that a store has. */
export const beforeAll: StorePosition = { page: null, name: '' };

const aadOf = (destinationId: string): string => `position in the list of ${destinationId}`;

/** Returns a position as text. It is encrypted: a driver calls what it contains, such as a link to the next page. */
export const sealPosition = (keyRing: KeyRing, destinationId: string, position: StorePosition): string =>
  encrypt(keyRing, aadOf(destinationId), Buffer.from(JSON.stringify(position))).toString('base64url');

/** Throws `invalid` for a text that is not the `next` of a page of this destination. */
export function openPosition(keyRing: KeyRing, destinationId: string, text: string): StorePosition {
  try {
    const plain = decrypt(keyRing, aadOf(destinationId), Buffer.from(text, 'base64url'));
    return StorePosition.parse(JSON.parse(plain.toString()));
  } catch (error) {
    if (error instanceof SealError) throw invalid('after: must be the `next` of another page of this list');
    throw error;
  }
}
