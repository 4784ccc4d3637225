import { useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import type { Credentials } from '../api/client.ts';
import { CheckboxField } from '../components/fields/checkbox-field.tsx';
import { TextField } from '../components/fields/text-field.tsx';
import { LoginForm } from './login-form.tsx';
import { TokenForm } from './token-form.tsx';
import './sign-in.css';

interface SignInPageProps {
  /** Why the previous session ended. */
  notice: string | undefined;
  onSignIn(credentials: Credentials, keep: boolean): void;
}

/** Asks for a token, or for a JWT of the directory to get one. */
export function SignInPage({ notice, onSignIn }: SignInPageProps) {
  const [namespace, setNamespace] = useState('');
  const [keep, setKeep] = useState(false);
  const path = namespace.replace(/^\/+|\/+$/g, '');
  const signIn = (token: string) => onSignIn({ token, namespace: path }, keep);
  return (
    <main className="sign-in card">
      <title>Sign in · Secrets</title>
      <h1>Sign in</h1>
      {notice && (
        <p className="notice" role="status">
          {notice}
        </p>
      )}
      <TextField
        label="Namespace"
        help="Empty for the root namespace."
        value={namespace}
        onChange={setNamespace}
      />
      <CheckboxField
        label="Stay signed in when this tab is reloaded."
        help="Keeps the token in the tab's session storage until the tab is closed. Otherwise it is only in memory, and a reload forgets it."
        isSelected={keep}
        onChange={setKeep}
      />
      <Tabs className="tabs">
        <TabList className="tab-list" aria-label="How to sign in">
          <Tab id="token">Token</Tab>
          <Tab id="jwt">Directory JWT</Tab>
        </TabList>
        <TabPanel id="token">
          <TokenForm namespace={path} onSignIn={signIn} />
        </TabPanel>
        <TabPanel id="jwt">
          <LoginForm namespace={path} onSignIn={signIn} />
        </TabPanel>
      </Tabs>
    </main>
  );
}
