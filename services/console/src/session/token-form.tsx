import { type FormEvent, useState } from 'react';
import { createApi } from '../api/client.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/fields/text-field.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { isTokenValid } from './token-validity.ts';
import { useSubmission } from './use-submission.ts';

interface TokenFormProps {
  namespace: string;
  /** The kind of its button. */
  kind: 'plain' | 'primary';
  onSignIn(token: string): void;
}

/** Signs in with a token, after the service has accepted it. */
export function TokenForm({ namespace, kind, onSignIn }: TokenFormProps) {
  const [token, setToken] = useState('');
  const [refused, setRefused] = useState(false);
  const { isPending, error, run } = useSubmission();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setRefused(false);
    run(async () => {
      const given = token.trim();
      if (await isTokenValid(createApi({ token: given, namespace }))) onSignIn(given);
      else setRefused(true);
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Token"
        type="password"
        autoComplete="off"
        help="npm start prints where the root token is."
        error={refused ? 'The service does not accept this token in this namespace.' : undefined}
        value={token}
        onChange={setToken}
        isRequired
      />
      {error !== undefined && <ProblemNotice title="The token could not be checked." error={error} />}
      <Button type="submit" kind={kind} isPending={isPending}>
        Sign in
      </Button>
    </form>
  );
}
