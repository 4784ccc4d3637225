import { readFile } from 'node:fs/promises';
import type { CloudCSettings } from '@secrets/destinations';
import { foreignUrlIn, parseServiceAccount, providerOf } from '@secrets/destinations';
import { Fault, parsedJson } from '@secrets/domain';
import {
  type DriverContext,
  refusedCredentials,
  requireSegment,
  retryAfterSeconds,
} from '@secrets/sync-worker';
import {
  type AuthClient,
  type gaxios,
  IdentityPoolClient,
  type IdentityPoolClientOptions,
  JWT,
  OAuth2Client,
} from 'google-auth-library';
import { z } from 'zod';
import { withFaults } from './call-faults.ts';
import { ResponseError } from './response-error.ts';

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];

/** Where the worker's own identity comes from. */
export interface Environment {
  /** The operator's endpoint in place of the provider's own. */
  endpointUrl?: string | undefined;
  /** A file with credentials (`GOOGLE_APPLICATION_CREDENTIALS`). */
  credentialsFile?: string | undefined;
  /** Host and port of the metadata server. */
  metadataHost?: string | undefined;
}

/** Transports for requests for tokens. Both connect through the egress guard only. */
export interface TokenTransports {
  provider: gaxios.Gaxios;
  metadata: typeof globalThis.fetch;
}

/** The metadata server of the provider's machines, which is the worker's environment and not of a destination's choice. */
export const metadataUrl = ({ metadataHost = 'metadata.google.internal' }: Environment): string =>
  `http://${metadataHost}`;

/** With what a destination authenticates, if not with the identity of the worker's environment. */
export interface OwnIdentity extends Pick<DriverContext, 'identityToken'> {
  credentials: string | undefined;
}

/**
 * Returns the destination's identity token or service account or, without either, the identity of the worker's
 * environment: its file of credentials, else its metadata server. The provider's own search for an identity is not
 * used, because it would connect past the egress guard.
 * @throws {Fault} `rejected`, if the credentials contain a URL of another host
 */
export async function authClientFor(
  settings: CloudCSettings,
  { credentials, identityToken }: OwnIdentity,
  environment: Environment,
  transports: TokenTransports,
): Promise<AuthClient> {
  if (settings.identity_token_audience !== '')
    return new DestinationIdentity(settings, identityToken, {
      endpointUrl: environment.endpointUrl?.replace(/\/$/, ''),
      transporter: transports.provider,
    });
  if (credentials === undefined) return environmentClient(environment, transports);
  const field = foreignUrlIn(credentials, environment.endpointUrl);
  if (field !== undefined)
    throw new Fault(
      'rejected',
      `credentials: ${field} points neither to the provider nor to the configured endpoint`,
    );
  return serviceAccountClient(credentials, transports.provider);
}

/** It signs its own tokens, so that no call requests one (https://google.aip.dev/auth/4111). */
function serviceAccountClient(credentials: string, transporter: gaxios.Gaxios): JWT {
  const { client_email: email, private_key: key, private_key_id: keyId } = parseServiceAccount(credentials);
  return new JWT({ email, key, scopes, transporter, ...(keyId === undefined ? {} : { keyId }) });
}

async function environmentClient(environment: Environment, transports: TokenTransports): Promise<AuthClient> {
  if (environment.credentialsFile !== undefined)
    return fileClient(
      await readFile(environment.credentialsFile, 'utf8').catch(unreadable),
      transports.provider,
    );
  const client = new OAuth2Client({ transporter: transports.provider });
  client.refreshHandler = () => metadataToken(environment, transports.metadata);
  return client;
}

/** The operator's file may contain a federated identity, whose tokens come from where the operator says. */
function fileClient(text: string, transporter: gaxios.Gaxios): AuthClient {
  const content = parsedJson(text);
  const parsed = EnvironmentFile.safeParse(content);
  if (!parsed.success)
    throw new Fault(
      'rejected',
      'the credentials of the environment must be a service_account, or an external_account with a file or a URL',
    );
  if (parsed.data.type === 'service_account') return serviceAccountClient(text, transporter);
  return new FederatedIdentity({ ...(content as IdentityPoolClientOptions), scopes, transporter });
}

const EnvironmentFile = z.discriminatedUnion('type', [
  z.object({ type: z.literal('service_account') }),
  z.object({
    type: z.literal('external_account'),
    credential_source: z.union([z.object({ file: z.string() }), z.object({ url: z.url() })]),
  }),
]);

/** The library exchanges tokens with a transport of its own, which would connect past the egress guard. */
class FederatedIdentity extends IdentityPoolClient {
  constructor(options: IdentityPoolClientOptions) {
    super(options);
    Object.assign(this.stsCredential, { transporter: this.transporter });
  }
}

/** Exchanges identity tokens about the destination (https://cloud.google.com/iam/docs/workload-identity-federation). */
class DestinationIdentity extends FederatedIdentity {
  constructor(
    settings: CloudCSettings,
    identityToken: DriverContext['identityToken'],
    { endpointUrl, transporter }: { endpointUrl: string | undefined; transporter: gaxios.Gaxios },
  ) {
    const { identity_token_audience: audience, identity_token_ttl: ttlSeconds } = settings;
    super({
      type: 'external_account',
      audience: `//iam.googleapis.com/${providerOf(settings)}`,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${endpointUrl ?? 'https://sts.googleapis.com'}/v1/token`,
      subject_token_supplier: { getSubjectToken: () => identityToken({ audience, ttlSeconds }) },
      ...impersonationOf(settings, endpointUrl),
      scopes,
      transporter,
    });
  }

  protected override async refreshAccessTokenAsync() {
    return withFaults('exchanging the identity token', () => super.refreshAccessTokenAsync()).catch(
      (error: unknown) => {
        throw refusedCredentials(error);
      },
    );
  }
}

function impersonationOf({ service_account_email: email }: CloudCSettings, endpointUrl: string | undefined) {
  if (email === '') return {};
  const path = `/v1/projects/-/serviceAccounts/${requireSegment('service_account_email', email)}:generateAccessToken`;
  const base = endpointUrl ?? 'https://iamcredentials.googleapis.com';
  return { service_account_impersonation_url: base + path };
}

function unreadable(): never {
  throw new Fault('rejected', 'the file of GOOGLE_APPLICATION_CREDENTIALS cannot be read', { mayPass: true });
}

const Token = z.object({ access_token: z.string(), expires_in: z.number() });

/** https://cloud.google.com/compute/docs/access/authenticate-workloads#applications */
async function metadataToken(environment: Environment, fetch: typeof globalThis.fetch) {
  const path = '/computeMetadata/v1/instance/service-accounts/default/token';
  const response = await withFaults('requesting a token of the metadata server', async () => {
    const headers = { 'metadata-flavor': 'Google' };
    const received = await fetch(`${metadataUrl(environment)}${path}`, { headers });
    requireAvailable(received);
    return received;
  });
  const token = response.ok ? Token.safeParse(parsedJson(await response.text())).data : undefined;
  if (token === undefined) throw noIdentity();
  return { access_token: token.access_token, expiry_date: Date.now() + token.expires_in * 1000 };
}

/** A server that is down or throttles says nothing about the identity. */
function requireAvailable({ status, headers }: Response): void {
  if (status !== 429 && status < 500) return;
  throw new ResponseError(status, {
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after') ?? undefined),
  });
}

const noIdentity = () =>
  new Fault(
    'unauthenticated',
    "neither the destination nor the worker's environment has credentials: the metadata server returned no token",
  );
