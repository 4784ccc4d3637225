/** The additional authenticated data of a destination's sealed fields. A field copied to another destination does not open. */
export const credentialsAad = (destinationId: string): string => `sync.destinations:${destinationId}`;
