import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields/text-field.tsx';

interface OpenFormProps {
  label: string;
  help: string;
  action: string;
  onOpen(name: string): void;
}

/** A field for a name, and a button that continues with it. */
export function OpenForm({ label, help, action, onOpen }: OpenFormProps) {
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onOpen(name.trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField label={label} help={help} value={name} onChange={setName} isRequired />
      <div>
        <Button type="submit">{action}</Button>
      </div>
    </form>
  );
}
