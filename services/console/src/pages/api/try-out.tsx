import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { CodeEditor } from '../../components/code-editor/code-editor.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { useSession } from '../../session/session.ts';
import { useSubmission } from '../../session/use-submission.ts';
import { CodeText } from './code-text.tsx';
import type { Operation } from './operations.ts';
import { type Answer, draftOf, send, targetOf } from './request.ts';

/** A form that sends a request with the token of the session, after a question if it can change something. */
export function TryOut({ operation }: { operation: Operation }) {
  const session = useSession();
  const [draft, setDraft] = useState(() => draftOf(operation));
  const [answer, setAnswer] = useState<Answer>();
  const [asks, setAsks] = useState(false);
  const { isPending, error, run } = useSubmission();
  const isRead = ['GET', 'HEAD'].includes(operation.method);
  const sendIt = () =>
    run(async () => {
      setAsks(false);
      setAnswer(await send(operation, draft, session));
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAnswer(undefined);
    if (isRead) sendIt();
    else setAsks(true);
  };
  return (
    <section aria-label="Try it out">
      <h2>Try it out</h2>
      <form className="stack" onSubmit={submit}>
        <Parameters
          operation={operation}
          values={draft.values}
          onChange={(values) => setDraft({ ...draft, values })}
        />
        {operation.body && (
          <CodeEditor
            label="Body"
            language="json"
            value={draft.body}
            onChange={(body) => setDraft({ ...draft, body })}
          />
        )}
        <div>
          <Button type="submit" kind="primary" isPending={isPending}>
            Send {operation.method}
          </Button>
        </div>
      </form>
      {asks && (
        <ConfirmDialog
          title={`Send ${operation.method} ${targetOf(operation, draft)}?`}
          action="Send"
          isDangerous={operation.method === 'DELETE'}
          isPending={isPending}
          onConfirm={sendIt}
          onCancel={() => setAsks(false)}
        >
          <p>This is not a trial: the service does what the request says, with the rights of your token.</p>
        </ConfirmDialog>
      )}
      {error !== undefined && <ProblemNotice title="The request was not sent." error={error} />}
      {answer && <AnswerText answer={answer} />}
    </section>
  );
}

interface ParametersProps {
  operation: Operation;
  values: Readonly<Record<string, string>>;
  onChange(values: Record<string, string>): void;
}

const Parameters = ({ operation, values, onChange }: ParametersProps) => (
  <>
    {operation.parameters
      .filter(({ in: place }) => place !== 'header')
      .map(({ name, in: place, required = false }) => (
        <TextField
          key={name}
          label={`${name} (${place})`}
          value={values[name] ?? ''}
          onChange={(value) => onChange({ ...values, [name]: value })}
          isRequired={required}
        />
      ))}
  </>
);

const AnswerText = ({ answer: { status, milliseconds, text } }: { answer: Answer }) => (
  <>
    <p role="status">
      Status {status} after {milliseconds} ms
    </p>
    <CodeText label="Response" text={indented(text)} />
  </>
);

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
