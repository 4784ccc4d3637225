import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Octokit } from '@octokit/rest';
import { Fault } from '@secrets/domain';
import { abortable, hasCode, parseResponse, refusedCredentials } from '@secrets/sync-worker';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { withFaults } from './call-faults.ts';
import type { Tokens } from './tokens.ts';

/** A registered application, and the number of its installation in the account that owns the secrets. */
export interface Installation {
  /** The name under which the application is registered with this service, for messages. */
  appName: string;
  appId: string;
  privateKey: KeyObject;
  id: number;
}

const operation = 'createInstallationAccessToken';
const Issued = z.object({ token: z.string().min(1), expires_at: z.iso.datetime({ offset: true }) });

/** The provider's clock may be behind: a token that was issued in its future would be refused. */
const issuedSecondsAgo = 60;
const lifetimeSeconds = 600;
const renewedBeforeExpiryMs = 60_000;
const timeoutMs = 20_000;

/** Reads a key in the format PKCS#1 or PKCS#8. Throws `Fault` `rejected` if it is none. */
export function readPrivateKey(pem: string, appName: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Fault(
      'rejected',
      `the private key of the application ${JSON.stringify(appName)} cannot be read`,
    );
  }
}

/**
 * The tokens of an installation. One is requested when it is needed and kept until a minute before it expires, however
 * many calls wait for it.
 *
 * The provider's own package for this (`@octokit/auth-app`) is not used: it shares requests in progress between all of
 * its instances by the number of the installation alone, so that a destination with another key, or on another server,
 * would get the token.
 */
export class InstallationTokens implements Tokens {
  readonly #octokit: Octokit;
  readonly #installation: Installation;
  #held: { token: string; renewAtMs: number } | undefined;
  #pending: Promise<string> | undefined;

  constructor(octokit: Octokit, installation: Installation) {
    this.#octokit = octokit;
    this.#installation = installation;
  }

  async current(signal: AbortSignal): Promise<string> {
    if (this.#held !== undefined && Date.now() < this.#held.renewAtMs) return this.#held.token;
    this.#pending ??= this.#request().finally(() => {
      this.#pending = undefined;
    });
    return abortable(this.#pending, signal, timedOut);
  }

  async replacementFor(refused: string, signal: AbortSignal): Promise<string> {
    if (this.#held?.token === refused) this.#held = undefined;
    return this.current(signal);
  }

  async #request(): Promise<string> {
    const { id, appName } = this.#installation;
    const headers = { authorization: `Bearer ${await appJwt(this.#installation)}` };
    const options = { installation_id: id, headers, request: { signal: AbortSignal.timeout(timeoutMs) } };
    const { data } = await withFaults(operation, () =>
      this.#octokit.rest.apps.createInstallationAccessToken(options),
    ).catch((error: unknown) => {
      throw refusal(error, id, appName);
    });
    const { token, expires_at: expiresAt } = parseResponse(operation, Issued, data);
    this.#held = { token, renewAtMs: Date.parse(expiresAt) - renewedBeforeExpiryMs };
    return token;
  }
}

/**
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
function appJwt({ appId, privateKey }: Installation): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1000) - issuedSecondsAgo;
  return new SignJWT({})
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(appId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(privateKey);
}

/** Says what is wrong: whatever the status, the destination has no credentials without the token. */
function refusal(error: unknown, id: number, appName: string): unknown {
  if (!(error instanceof Fault)) return error;
  const name = JSON.stringify(appName);
  if (hasCode(error, 'NotFound'))
    return new Fault(
      'unauthenticated',
      `${operation}: the application ${name} has no installation ${id}; it was removed, or installation_id is wrong`,
    );
  if (!hasCode(error, 'BadCredentials')) return refusedCredentials(error);
  return new Fault(
    'unauthenticated',
    `${operation}: the ID or the private key of the application ${name} was not accepted, or the worker's clock is wrong`,
  );
}

const timedOut = () => new Fault('unavailable', `${operation}: the call was aborted at its time limit`);
