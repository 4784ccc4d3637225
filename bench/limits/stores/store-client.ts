import { sandboxTypes } from '../../../tests/harness/destination-types.ts';

/** The simulated store of a destination type, and what its clients authenticate with. */
export interface StoreAddress {
  destinationType: string;
  /** Base URL of the store. */
  endpoint: string;
  /** Base URL of the sandbox. */
  sandboxUrl: string;
  credentials: Readonly<Record<string, string>>;
}

/** A provider's client. */
export interface StoreClient {
  /** Stores the first value of a secret. */
  create(name: string, value: string): Promise<void>;
  /** Stores another value, with the calls that the worker makes for one. `create` must have been called for the name. */
  put(name: string, value: string): Promise<void>;
}

export type DestinationFields = Record<string, unknown>;

/** Returns the fields of a destination of this store. */
export const fieldsOf = ({ destinationType, credentials }: StoreAddress): DestinationFields => ({
  ...sandboxTypes.find(({ type }) => type === destinationType)!.fields(credentials),
});

/** Returns a credential. */
export function credential({ credentials, destinationType }: StoreAddress, name: string): string {
  const value = credentials[name];
  if (value === undefined) throw new Error(`the sandbox has no ${name} for ${destinationType}`);
  return value;
}
