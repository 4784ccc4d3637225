/** The additional authenticated data of a destination's sealed fields. A field copied to another destination does not open. */
export const credentialsAad = (destinationId: string): string => `sync.destinations:${destinationId}`;

/** The additional authenticated data of the sealed private key of a code-host application. */
export const codehostAppAad = (appId: string): string => `sync.codehost_apps:${appId}`;
