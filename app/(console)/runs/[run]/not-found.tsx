import { NoSuchRun } from '@/components/shell/no-such'

export default function NotFound() {
  return <NoSuchRun />
}
