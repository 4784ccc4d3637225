/** The meaning of a failed request to a key service. */
export type KeyFault =
  | 'unavailable'
  | 'throttled'
  | 'denied'
  | 'disabled'
  | 'not_found'
  /** The ciphertext, or what it is bound to, is not what was wrapped. */
  | 'altered'
  /** Anything else: a mistake in the name of a key, or a response in an unknown form. */
  | 'unexpected';

/** The data that a wrapped key is bound to: it cannot be unwrapped as the key of another installation, or under another id. */
export interface KeyContext {
  installation: string;
  keyId: string;
}

/**
 * A service that wraps and unwraps keys. Each request is one attempt. An implementation is loaded only if a key file names it,
 * and as a program of its own in an image, so it shares no classes with its caller.
 */
export interface KeyService {
  /** Returns the ciphertext, and the full name of the key that was used. */
  wrap(
    request: { key: string; plain: Uint8Array; context: KeyContext },
    signal: AbortSignal,
  ): Promise<{ key: string; ciphertext: Uint8Array }>;
  unwrap(
    request: { key: string; ciphertext: Uint8Array; context: KeyContext },
    signal: AbortSignal,
  ): Promise<Uint8Array>;
  faultOf(error: unknown): KeyFault;
}

/** Creates a service whose requests go to `endpoint`, or else to its public one. */
export type OpenKeyService = (endpoint: string | undefined) => KeyService;
