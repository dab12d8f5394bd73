import { NoSuchWorkflow } from '@/components/shell/no-such'

export default function NotFound() {
  return <NoSuchWorkflow />
}
