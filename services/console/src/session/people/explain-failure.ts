import { ApiProblem, Refusal } from '../../api/problem.ts';

/** An error of any kind with which a sign-in has failed. */
export type SignInFailure = unknown;

/** An error that the provider has sent the user back with, by its code (OpenID Connect Core 1.0, section 3.1.2.6). */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const unknownAttempt = {
  title: 'This sign-in was not begun in this tab, or was used before.',
  sentences: ['Begin again below.'],
};

const byCode: Readonly<Record<string, Explanation>> = {
  unknown_attempt: unknownAttempt,
  no_return: {
    title: 'The provider did not send you back.',
    sentences: ['It may not be available. Try again in a minute, or sign in with a token.'],
  },
  access_denied: {
    title: 'The provider did not let you in.',
    sentences: [
      'You have cancelled, or your account may not use this service. Your administrator can assign it.',
    ],
  },
  temporarily_unavailable: {
    title: 'The provider is not available at the moment.',
    sentences: ['Try again in a minute, or sign in with a token.'],
  },
};

/** The refusals of a provider that was asked not to show anything. */
const sessionCodes = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];

export interface Explanation {
  title: string;
  sentences: readonly string[];
}

/** Whether the user only has to sign in again. */
export const isSessionEnd = (failure: SignInFailure): boolean =>
  failure instanceof ProviderRefusal && sessionCodes.includes(failure.code);

/** Says in plain language why a sign-in has failed and what to do. */
export function explainFailure(failure: SignInFailure): Explanation {
  if (isSessionEnd(failure)) {
    const hasEnded = failure instanceof ProviderRefusal && failure.code === 'login_required';
    const title = hasEnded
      ? 'Your session at the provider has ended.'
      : 'The provider wants to ask you something.';
    return { title, sentences: ['Sign in again.'] };
  }
  if (failure instanceof ProviderRefusal)
    return (
      byCode[failure.code] ?? {
        title: 'The provider could not sign you in.',
        sentences: [`It has sent the error ${printable(failure.code)}.`],
      }
    );
  if (failure instanceof Refusal) return { title: failure.message, sentences: [] };
  return failure instanceof ApiProblem ? explainProblem(failure) : noResponse;
}

const noResponse: Explanation = {
  title: 'The service did not respond.',
  sentences: ['Check your connection, and try again.'],
};

const titles: Readonly<Record<number, string>> = {
  400: 'This way to sign in is not set up completely.',
  403: 'You may not sign in here.',
  429: 'There were too many sign-ins.',
  502: 'The provider and this service do not agree.',
  503: 'The provider does not respond.',
};

const advice: Readonly<Record<number, string>> = {
  403: 'If you should have access, send your administrator the check that failed.',
  502: 'Send your administrator this message.',
  503: 'Try again in a minute, or sign in with a token.',
};

function explainProblem({ status, sentences, retryAfterSeconds }: ApiProblem): Explanation {
  const later = retryAfterSeconds === undefined ? advice[status] : `Try again in ${retryAfterSeconds} s.`;
  return {
    title: titles[status] ?? 'The sign-in has failed.',
    sentences: [...sentences, ...(later === undefined ? [] : [later])],
  };
}

const maxCode = 60;
/** The code comes from the address, which anybody can write. */
const printable = (code: string): string => code.replace(/[^\w.-]/g, '').slice(0, maxCode);
