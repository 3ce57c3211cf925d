# Sourced by tests of the tool: expect, on $isomer, within $limit seconds; a call
# that went wrong is printed and sets failed=1.
failed=0

# expect CODE TEXT WORD...: the call exits with CODE and prints TEXT somewhere.
expect() {
  local code=$1 text=$2 status=0 output
  shift 2
  output=$(timeout "$limit" "$isomer" "$@" 2>&1) || status=$?
  if [ "$status" != "$code" ]; then
    echo "isomer $*: exit code $status, expected $code: $output"
    failed=1
  fi
  case $output in
    *"$text"*) ;;
    *)
      echo "isomer $*: printed '$output', expected '$text'"
      failed=1
      ;;
  esac
}
