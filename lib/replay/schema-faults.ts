import * as v from 'valibot';

/** What does not fit the schema, in one sentence of `file`'s own terms. */
export function schemaFault(file: string, issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue) ?? 'the file';
  if (issue.expected === 'never') return `${field} is not a field of ${file}`;
  if (issue.received === 'undefined') return `${field} is missing`;
  if (issue.type === 'non_empty') return `${field} is empty`;
  return `${field} is ${inWords(issue.received)}; it must be ${requirement(issue)}`;
}

/** Requirements that the validator has no words for. */
const BY_TYPE: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  safe_integer: 'a whole number',
  finite: 'finite',
};

const BY_SIGN: Readonly<Record<string, string>> = { '>=': 'at least ', '>': 'more than ', '<': 'less than ' };

function requirement({ type, expected }: v.BaseIssue<unknown>): string {
  return BY_TYPE[type] ?? inWords(expected ?? type).replace(/^[<>]=?/, (sign) => BY_SIGN[sign] ?? sign);
}

const KINDS: Readonly<Record<string, string>> = {
  Object: 'an object',
  Array: 'a list',
  number: 'a number',
  string: 'a text',
};

/** The validator's name of a kind or value, or of several of them, in words. */
function inWords(name: string): string {
  return KINDS[name] ?? name.replace(/^\((.*)\)$/, '$1').replaceAll(' | ', ' or ');
}
