import { useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { CheckboxField } from '../components/fields/checkbox-field.tsx';
import { TextField } from '../components/fields/text-field.tsx';
import { LoginForm } from './login-form.tsx';
import { currentPage } from './people/begin-sign-in.ts';
import { explainFailure, isSessionEnd, type SignInFailure } from './people/explain-failure.ts';
import { FailureNotice } from './people/failure-notice.tsx';
import { ProviderButtons } from './people/provider-buttons.tsx';
import { useListedMounts } from './people/use-listed-mounts.ts';
import type { SignedIn } from './session.ts';
import { TokenForm } from './token-form.tsx';
import './sign-in.css';

/** The reason for which the user has to sign in. */
export interface WhySignedOut {
  /** Why the previous session ended. */
  notice?: string;
  /** The failure of the last sign-in through a provider. */
  failure?: SignInFailure;
  /** The namespace of that session or sign-in. */
  namespace?: string;
}

interface SignInPageProps {
  why: WhySignedOut;
  onSignIn(user: SignedIn, keep: boolean): void;
}

/** Offers the providers that the operator lists, and asks for a token, or for a JWT of the directory to get one. */
export function SignInPage({ why, onSignIn }: SignInPageProps) {
  const [namespace, setNamespace] = useState(why.namespace ?? '');
  const path = namespace.replace(/^\/+|\/+$/g, '');
  const listed = useListedMounts(path);
  const hasProviders = listed !== undefined && listed.mounts.length > 0;
  return (
    <main className="sign-in card">
      <title>Sign in · Secrets</title>
      <h1>Sign in</h1>
      <Reason why={why} />
      {hasProviders && <ProviderButtons mounts={listed.mounts} returnTo={currentPage()} />}
      {listed?.failed && (
        <p className="soft">Whether there are other ways to sign in could not be read. A token works.</p>
      )}
      <TextField
        label="Namespace"
        help="Empty for the root namespace. Other namespaces may have other ways to sign in."
        value={namespace}
        onChange={setNamespace}
      />
      <WithToken isAlternative={hasProviders} namespace={path} onSignIn={onSignIn} />
    </main>
  );
}

function Reason({ why: { notice, failure } }: { why: WhySignedOut }) {
  if (failure !== undefined && !isSessionEnd(failure)) return <FailureNotice {...explainFailure(failure)} />;
  const { title, sentences } = explainFailure(failure);
  const text = failure === undefined ? notice : [title, ...sentences].join(' ');
  return text === undefined ? null : (
    <p className="notice" role="status">
      {text}
    </p>
  );
}

interface WithTokenProps {
  /** Whether there are providers above. */
  isAlternative: boolean;
  namespace: string;
  onSignIn(user: SignedIn, keep: boolean): void;
}

function WithToken({ isAlternative, namespace, onSignIn }: WithTokenProps) {
  const [keep, setKeep] = useState(false);
  const kind = isAlternative ? 'plain' : 'primary';
  const signIn = (isIssued: boolean) => (token: string) => onSignIn({ token, namespace, isIssued }, keep);
  return (
    <section className="stack" aria-label="With a token">
      {isAlternative && <h2>Or with a token</h2>}
      <CheckboxField
        label="Stay signed in when this tab is reloaded."
        help="Keeps this token in the tab's session storage until the tab is closed. Otherwise it is only in memory, and a reload forgets it."
        isSelected={keep}
        onChange={setKeep}
      />
      <Tabs className="tabs">
        <TabList className="tab-list" aria-label="How to sign in">
          <Tab id="token">Token</Tab>
          <Tab id="jwt">Directory JWT</Tab>
        </TabList>
        <TabPanel id="token">
          <TokenForm namespace={namespace} kind={kind} onSignIn={signIn(false)} />
        </TabPanel>
        <TabPanel id="jwt">
          <LoginForm namespace={namespace} kind={kind} onSignIn={signIn(true)} />
        </TabPanel>
      </Tabs>
    </section>
  );
}
