export type SignatureFaultKind = 'missing' | 'incomplete' | 'unknown-key' | 'bad-signature' | 'expired-token';

/** Why a request is not known to come from who it says; each protocol has its own codes for these. */
export class SignatureFault extends Error {
  readonly kind: SignatureFaultKind;

  constructor(kind: SignatureFaultKind, message: string) {
    super(message);
    this.name = 'SignatureFault';
    this.kind = kind;
  }
}
