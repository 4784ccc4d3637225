import { parseExactly, type StoreState, unknownState } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { FoundSecret, InspectRequest, Look } from '../../driver/look.ts';

interface Comparison {
  importedAs: 'json' | 'key';
  /** Whether a text is the value that the secret has already. */
  isSame(text: Sealed<string>): boolean;
}

/** The state of an external secret that would be imported, and its value, if that can be taken. */
interface Compared {
  state: StoreState;
  text?: Sealed<string>;
}

/**
 * Looks at an external secret that would be imported, whose value stays here. Returns `different` also if there is nothing to
 * compare its value with, and `unknown` with the reason if its value cannot be taken.
 */
export async function compareToImport(
  comparison: Comparison,
  inspect: (isSameValue: InspectRequest['isSameValue']) => Promise<Look>,
): Promise<Compared> {
  const texts: Sealed<string>[] = [];
  const look = await inspect((text) => {
    texts.push(text);
    return true; // so that every value is read
  });
  if (!look.exists) return { state: state('absent') };
  const known = notOurs(look) ?? whyNoValue(look, texts, comparison);
  if (known !== undefined) return { state: known };
  const [text] = texts;
  return { state: state(comparison.isSame(text!) ? 'equal' : 'different'), text: text! };
}

const state = (found: StoreState['state']): StoreState => ({ state: found, reason: null });

function notOurs({ belongs }: FoundSecret): StoreState | undefined {
  if (belongs === 'other') return state('another_destination');
  return belongs === 'provider' ? state('provider') : undefined;
}

function whyNoValue(
  { value }: FoundSecret,
  [text, ...others]: readonly Sealed<string>[],
  { importedAs }: Comparison,
): StoreState | undefined {
  if (value === 'unread') return { ...unknownState('the store does not return the value'), isHidden: true };
  if (text === undefined) return unknownState('it has no value that is text');
  if (others.some((other) => other.reveal() !== text.reveal()))
    return unknownState('its value is not the same in all environments');
  if (importedAs === 'json' && !isJsonObject(text.reveal()))
    return unknownState('its value is not a JSON object; import it as key');
  return undefined;
}

function isJsonObject(text: string): boolean {
  try {
    const value = parseExactly(text);
    return typeof value === 'object' && value !== null && value.constructor === Object;
  } catch {
    return false;
  }
}
