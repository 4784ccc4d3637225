import { guidFrom } from '../identity.ts';

/** The application of the tenant, with its first password. */
export interface Application {
  clientId: string;
  clientSecret: string;
  /** Object ID of its service principal. */
  oid: string;
  /** Object ID of the application itself, by which Graph finds it. */
  objectId: string;
  displayName: string;
}

/** The default application, which may use every simulated service that accepts the directory's tokens. */
export const defaultApplication = (seed: string): Application => ({
  clientId: guidFrom(`application ${seed}`),
  clientSecret: `sandbox~${guidFrom(`client secret ${seed}`)}`,
  oid: guidFrom(`oid application ${seed}`),
  objectId: guidFrom(`object of application ${seed}`),
  displayName: 'sandbox',
});
