/** The additional authenticated data of a destination's sealed fields: they open for this destination alone. */
export const credentialsAad = (destinationId: string): string => `sync.destinations:${destinationId}`;
