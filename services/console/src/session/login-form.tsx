import { type FormEvent, useState } from 'react';
import { createApi } from '../api/client.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/fields/text-field.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { useSubmission } from './use-submission.ts';

interface LoginFormProps {
  namespace: string;
  /** The kind of its button. */
  kind: 'plain' | 'primary';
  onSignIn(token: string): void;
}

/** Exchanges a JWT of the directory for a token, for a role that binds the principal alone. */
export function LoginForm({ namespace, kind, onSignIn }: LoginFormProps) {
  const [login, setLogin] = useState({ mount: 'cloudB', role: '', jwt: '' });
  const { isPending, error, run } = useSubmission();
  const set = (field: keyof typeof login) => (value: string) => setLogin({ ...login, [field]: value });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(async () => onSignIn(await logIn(namespace, login)));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Auth mount"
        help="The path of the login method."
        value={login.mount}
        onChange={set('mount')}
        isRequired
      />
      <TextField label="Role" value={login.role} onChange={set('role')} isRequired />
      <TextField
        label="JWT"
        type="password"
        autoComplete="off"
        help="As the directory has issued it, for the audience that the mount is configured with."
        value={login.jwt}
        onChange={set('jwt')}
        isRequired
      />
      {error !== undefined && <ProblemNotice title="The login was refused." error={error} />}
      <Button type="submit" kind={kind} isPending={isPending}>
        Sign in
      </Button>
    </form>
  );
}

interface Login {
  mount: string;
  role: string;
  jwt: string;
}

async function logIn(namespace: string, { mount, role, jwt }: Login): Promise<string> {
  const { data } = await createApi({ namespace }).POST('/v1/auth/{mount}/login', {
    params: { path: { mount } },
    body: { role, jwt: jwt.trim() },
  });
  const token = data?.auth?.client_token;
  if (typeof token !== 'string') throw new Error('the response has no token');
  return token;
}
