import type { ReactNode } from 'react';
import { Checkbox } from 'react-aria-components';
import './field.css';

interface CheckboxFieldProps {
  label: string;
  /** What ticking it does. */
  help?: ReactNode;
  isSelected: boolean;
  isDisabled?: boolean;
  onChange(isSelected: boolean): void;
}

/** A box to tick, with help. */
export const CheckboxField = ({ label, help, ...rest }: CheckboxFieldProps) => (
  <Checkbox {...rest} className="checkbox">
    <span className="checkbox-box" aria-hidden="true">
      ✓
    </span>
    <span>
      {label}
      {help && <span className="field-help"> {help}</span>}
    </span>
  </Checkbox>
);
