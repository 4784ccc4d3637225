/** Identity under which a destination's secret fields are sealed: they open for this destination alone. */
export const credentialsIdentity = (destinationId: string): string => `sync.destinations:${destinationId}`;
