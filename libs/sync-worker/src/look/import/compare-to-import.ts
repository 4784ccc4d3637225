import { parseExactly, type StoreState, unknownState } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { FoundSecret, InspectRequest, Look } from '../../driver/look.ts';

interface Comparison {
  importedAs: 'json' | 'key';
  /** Whether a text is the value that the secret has already. */
  isSame(text: Sealed<string>): boolean;
}

/**
 * Looks at an external secret that would be imported, whose value stays here. Returns `different` also if there is nothing to
 * compare its value with, and `unknown` with the reason if its value cannot be taken.
 */
export async function compareToImport(
  comparison: Comparison,
  inspect: (isSameValue: InspectRequest['isSameValue']) => Promise<Look>,
): Promise<StoreState> {
  const texts: Sealed<string>[] = [];
  const look = await inspect((text) => {
    texts.push(text);
    return true; // so that every value is read
  });
  if (!look.exists) return state('absent');
  return notOurs(look) ?? stateOfValue(look, texts, comparison);
}

const state = (found: StoreState['state']): StoreState => ({ state: found, reason: null });

function notOurs({ belongs }: FoundSecret): StoreState | undefined {
  if (belongs === 'other') return state('another_destination');
  return belongs === 'provider' ? state('provider') : undefined;
}

function stateOfValue(
  { value }: FoundSecret,
  [text, ...others]: readonly Sealed<string>[],
  { importedAs, isSame }: Comparison,
): StoreState {
  if (value === 'unread') return unknownState('the store does not return the value');
  if (text === undefined) return unknownState('it has no value that is text');
  if (others.some((other) => other.reveal() !== text.reveal()))
    return unknownState('its value is not the same in all environments');
  if (importedAs === 'json' && !isJsonObject(text.reveal()))
    return unknownState('its value is not a JSON object; import it as key');
  return state(isSame(text) ? 'equal' : 'different');
}

function isJsonObject(text: string): boolean {
  try {
    const value = parseExactly(text);
    return typeof value === 'object' && value !== null && value.constructor === Object;
  } catch {
    return false;
  }
}
