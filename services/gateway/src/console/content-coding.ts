/** The codings in which the console's files may be sent, the preferred one first. */
const codings = ['br', 'gzip', 'identity'] as const;
export type ContentCoding = (typeof codings)[number];

/** Chooses the coding of a response among those that are available, from `Accept-Encoding` (RFC 9110, section 12.5.3). */
export function chooseCoding(
  accepted: string | undefined,
  available: Readonly<Partial<Record<ContentCoding, unknown>>>,
): ContentCoding {
  const weights = new Map((accepted ?? '').split(',').map(weightOf));
  const isAccepted = (coding: ContentCoding) =>
    coding === 'identity' || (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  return codings.find((coding) => available[coding] !== undefined && isAccepted(coding)) ?? 'identity';
}

function weightOf(text: string): [name: string, weight: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return [name, weight === undefined ? 1 : Number(weight)];
}
