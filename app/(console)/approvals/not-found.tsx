import { NoSuchApproval } from '@/components/shell/no-such'

export default function NotFound() {
  return <NoSuchApproval />
}
