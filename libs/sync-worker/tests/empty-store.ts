import type { ConnectedDestination } from '../src/driver/driver.ts';

/** A destination whose store accepts everything and holds nothing, except for the operations in `own`. */
export const emptyStore = (own: Partial<ConnectedDestination> = {}): ConnectedDestination => ({
  put: async () => ({ remote: {} }),
  remove: async () => {},
  inspect: async () => ({ exists: false }),
  list: async () => ({ secrets: [], next: null }),
  close: async () => {},
  ...own,
});
